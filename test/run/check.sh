#!/usr/bin/env bash
# Everything from a bare Debian 12 to all tests passed (make check).
#
# Installs what is missing, builds with warnings as errors, starts a private
# cluster and runs every kind of test that test/README.md names.  CHECK_ONLY
# selects parts:  CHECK_ONLY="regress pgtap" make check
#
# The last line is "N passed, N failed"; the exit status is 0 only if nothing
# failed and something passed.  After a failure the logs are in .check/.

. "$(dirname "$0")/lib.sh"

# For a server that is several times as slow, or for fewer and longer tests
# (test/run/sanitize.sh): a factor for time limits, the files to run, and a test to
# skip because it measures time.  CHECK_LOGS=always keeps all logs, including those
# of the servers, even if nothing has failed.
SLOW=${CHECK_SLOW:-1}
TAP_FILES=${CHECK_TAP:-test/t/*.pl}
FUZZ_FILES=${CHECK_FUZZ:-test/fuzz/*.py}
FUZZ_COUNT=${CHECK_FUZZ_COUNT:-20000}
SKIP=${CHECK_SKIP:-none}

PARTS="house regress pgtap isolation clients tap fuzz docs model"
ONLY=${CHECK_ONLY:-$PARTS}
PASSED=0
FAILED=0
TABLE=
FAULTS=

# Cleans up everything, however the script ends.
finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	end_child
	[ -z "$WORK" ] || { cluster_stop immediate; keep_logs; rm -rf "$WORK"; }
	exit $status
}

# Keeps only what is needed to explain a failure, in a folder that git ignores.
keep_logs() {
	rm -rf "$TOP/.check"
	[ "$FAILED" != 0 ] || [ -n "${CHECK_LOGS:-}" ] || return 0
	[ -d "$WORK/log" ] && mkdir "$TOP/.check" 2>/dev/null || return 0
	echo '*' >"$TOP/.check/.gitignore"
	cp -r "$WORK/log/." "$TOP/.check/"
	cp "$WORK/server.log" "$SRC/regression.diffs" "$SRC/output_iso/regression.diffs" \
		"$TOP/.check/" 2>/dev/null
	[ -z "${CHECK_LOGS:-}" ] || cp -r "$SRC/tmp_check/log" "$TOP/.check/tap" 2>/dev/null
}

# ------------------------------------------------------------------- counting

# part NAME FUNCTION: runs it and adds a row to the table.  The function counts
# with `count PASSED FAILED`.
part() {
	local name=$1 start=$SECONDS
	part_passed=0 part_failed=0
	say "== $name"
	"$2"
	TABLE+=$(printf '%-12s %8d %8d %6d s' "$name" "$part_passed" "$part_failed" \
		$((SECONDS - start)))$'\n'
	PASSED=$((PASSED + part_passed))
	FAILED=$((FAILED + part_failed))
}

count() {
	part_passed=$((part_passed + $1))
	part_failed=$((part_failed + $2))
}

# report UNIT PASSED FAILED LOG
report() {
	count "$2" "$3"
	printf '   %-32s %5d passed %4d failed\n' "$1" "$2" "$3"
	[ "$3" = 0 ] || { faults_of "$4" | head -n 60; fault "$1" < <(faults_of "$4"); }
}

# the lines of a log that say what failed
faults_of() {
	{ grep -nE -A6 '^ *not ok|^#   |^FAIL| failed:|: failed$|should have failed|was not reached|ERROR:|FATAL:|PANIC:|FAILED|Bad plan' "$1" ||
		tail -n 20 "$1"; } | sed 's/^/     | /'
}

# fault UNIT: keeps the beginning of its input for the end of the output, because some
# records keep only the last lines
fault() {
	FAULTS+=$(printf '   %s\n' "$1"; head -n 5 | cut -c 1-160)$'\n'
}

# runner PATH...: a test without its program fails, it is not skipped.
runner() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null && continue
		say "   $program is missing"
		count 0 1
		return 1
	done
}

# files PATTERN: those of the checkout, relative to it, in order
# shellcheck disable=SC2012,SC2086
files() { (cd "$TOP" && ls -d $1 2>/dev/null | LC_ALL=C sort); }

# tap_unit FILE LOG STATUS: counts the lines of TAP.  A program that died after
# good lines, or violated its plan, counts as a failure.
tap_unit() {
	local good bad plan
	good=$(grep -cE '^ok [0-9]' "$2")
	bad=$(grep -cE '^not ok [0-9]' "$2")
	plan=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$2" | head -n 1)
	[ "$3" = 0 ] || [ "$bad" != 0 ] || bad=1
	[ $((good + bad)) = "${plan:-0}" ] || [ "$bad" != 0 ] || bad=1
	report "$1" "$good" "$bad" "$2"
}

# ---------------------------------------------------------------------- parts

part_build() {
	local log=$WORK/log/build.log
	if run_child timeout -k 10 600 bash -c '. "$0"; find_programs; build' \
			"$TOP/test/run/lib.sh" >"$log" 2>&1; then
		count 1 0
	else
		count 0 1
		grep -v '^gcc ' "$log" | tail -n 40
	fi
}

# What may include and call what in src/; needs no server.
part_house() {
	local log=$WORK/log/house.log
	run_child timeout -k 10 120 "$PYTHON" "$TOP/test/run/house.py" >"$log" 2>&1
	counted "$log" $?
}

# pg_regress prints one line per test: "test name ... ok" or "... FAILED", or
# lines of TAP from PostgreSQL 16 on.
regress_units() {
	local log=$1 status=$2 good bad
	good=$(grep -cE '^test .*\.\.\. ok\b|^ok ' "$log")
	bad=$(grep -cE '^test .*\.\.\. FAILED\b|^not ok ' "$log")
	[ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
	count "$good" "$bad"
	grep -E '^(test|ok|not ok) ' "$log" | sed 's/^/   /'
	[ "$status" = 0 ] || {
		grep -vE '^(test|ok|not ok) ' "$log" | tail -n 8
		head -n 120 "$3" 2>/dev/null
		fault "$(basename "$log")" < <(grep -E '\.\.\. FAILED|^not ok ' "$log" || tail -n 5 "$log"; grep '^[-+]' "$3")
	} 2>/dev/null
}

# regress_run SECONDS OUTPUT LOG ARGUMENT...: pg_regress or pg_isolation_regress, as make
# installcheck starts them, for so many seconds at most
regress_run() {
	local most=$(($1 * SLOW)) output=$2 log=$3 status
	shift 3
	as_server mkdir -p "$output"
	[ -d "$SRC/tmp_input" ] ||
		as_server make -s -C "$SRC" PG_CONFIG="$PG_CONFIG" tmp_input >"$log" 2>&1
	run_child timeout -k 10 "$most" "${AS_SERVER[@]}" env -C "$SRC" "$@" --bindir="$BINDIR" \
		--inputdir="$SRC/tmp_input" --outputdir="$output" --host="$WORK" --user=postgres \
		>>"$log" 2>&1
	status=$?
	[ "$status" != 124 ] || echo "cut off after $most s" >>"$log"
	regress_units "$log" "$status" "$output/regression.diffs"
}

part_regress() {
	local names program=$PGXS_DIR/src/test/regress/pg_regress
	names=$(files 'test/sql/*.sql' | sed 's,.*/\(.*\)\.sql,\1,')
	[ -n "$names" ] && runner "$program" || return 0
	# shellcheck disable=SC2086
	regress_run 300 "$SRC" "$WORK/log/regress.log" "$program" --dbname=contrib_regression $names
}

part_isolation() {
	local names program=$PGXS_DIR/src/test/isolation/pg_isolation_regress
	names=$(files 'test/isolation/specs/*.spec' | sed 's,.*/\(.*\)\.spec,\1,' | grep -vx "$SKIP")
	[ -n "$names" ] && runner "$program" "${program%/*}/isolationtester" || return 0
	# shellcheck disable=SC2086
	PGISOLATIONTIMEOUT=$((60 * SLOW)) regress_run 900 "$SRC/output_iso" "$WORK/log/isolation.log" "$program" \
		--dbname=isolation_regression --load-extension=clutch fixture $names
}

# Each file in a database of its own, made from one that has both extensions.
part_pgtap() {
	local file log status database
	[ -n "$(files 'test/pgtap/*.sql')" ] && runner pg_prove || return 0
	createdb clutch_pgtap &&
		psql -X -q -d clutch_pgtap -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION clutch' \
			-c 'CREATE EXTENSION pgtap' || { count 0 1; return 0; }
	for file in $(files 'test/pgtap/*.sql'); do
		database=pgtap_$(basename "$file" .sql)
		log=$WORK/log/$database.log
		createdb -T clutch_pgtap "$database"
		run_child timeout -k 10 $((300 * SLOW)) env -C "$SRC" pg_prove -v -d "$database" "$file" >"$log" 2>&1
		status=$?
		tap_unit "$file" "$log" $status
		dropdb --force "$database" 2>>"$log"
	done
}

# Programs in other languages; installs their drivers.
part_clients() {
	local log=$WORK/log/clients.log
	run_child timeout -k 10 $((900 * SLOW)) bash "$TOP/test/run/clients.sh" >"$log" 2>&1
	counted "$log" $?
}

# The scripts of old versions, for the test that updates from them, are installed only for this part.
OLD_SCRIPTS=(clutch--0.1.0.sql clutch--0.2.0.sql)

# add_stderr LOG STDERR: puts the stderr of such a test and its programs, which has a log of
# its own, into LOG.  The lines before the first failure tell the reason, so they come first.
add_stderr() {
	{ grep -m 1 -B 3 ') not ok ' "$2"; cat "$1"; tail -n 20 "$2"; } >"$1.all" 2>&1
	mv "$1.all" "$1"
}

# tap_one FILE: with a log and a status of its own
tap_one() {
	local name
	name=tap_$(basename "$1" .pl)
	timeout -k 10 $((600 * SLOW)) prove -v "$1" >"$WORK/log/$name.log" 2>&1
	echo $? >"$WORK/$name.status"
}

# These tests create their own clusters, in the copy, as the server's user.  They spend much
# of their time waiting, so two of them run at a time.
part_tap() {
	local file log name status
	as_root cp "${OLD_SCRIPTS[@]/#/$TOP/test/fixtures/}" "$("$PG_CONFIG" --sharedir)/extension"
	[ -n "$(files "$TAP_FILES")" ] && runner prove "$PGXS_DIR/src/test/regress/pg_regress" ||
		return 0
	export -f tap_one
	files "$TAP_FILES" >"$WORK/tap_files"
	# PostgreSQL's own library for these tests unsets LC_ALL, and the encoding of its clusters follows the locale
	run_child "${AS_SERVER[@]}" env -C "$SRC" -u PGHOST -u PGUSER -u PGDATABASE LANG=C.UTF-8 \
		PATH="$BINDIR:$PATH" PERL5LIB="$PGXS_DIR/src/test/perl" PG_REGRESS="$PGXS_DIR/src/test/regress/pg_regress" \
		TESTDIR="$SRC" PGPORT=65432 TMPDIR="$WORK" WORK="$WORK" SLOW="$SLOW" \
		xargs -a "$WORK/tap_files" -P 2 -I{} bash -c 'tap_one {}'
	for file in $(files "$TAP_FILES"); do
		name=tap_$(basename "$file" .pl)
		log=$WORK/log/$name.log
		status=$(cat "$WORK/$name.status" || echo 1)
		[ "$status" = 0 ] || add_stderr "$log" "$SRC/tmp_check/log/regress_log_$(basename "$file" .pl)"
		tap_unit "$file" "$log" "$status"
	done
	as_root rm -f "${OLD_SCRIPTS[@]/#/$("$PG_CONFIG" --sharedir)/extension/}"
}

# fuzz_one FILE: in a database of its own, with a log and a status of its own
fuzz_one() {
	local name
	name=fuzz_$(basename "$1" .py)
	createdb "clutch_$name" && psql -X -q -d "clutch_$name" -c 'CREATE EXTENSION clutch'
	PGDATABASE=clutch_$name CLUTCH_WALK_SQL=$WORK/log/walk.sql \
		timeout -k 10 $((600 * SLOW)) "$PYTHON" "$SRC/$1" "$FUZZ_COUNT" >"$WORK/log/$name.log" 2>&1
	echo $? >"$WORK/$name.status"
	dropdb --force "clutch_$name"
}

# The fast part: enough mutations to reach every branch, but not to find leaks.  A client
# and its backend take turns, so two clients keep two processors busy.
part_fuzz() {
	local file name status
	export -f fuzz_one
	files "$FUZZ_FILES" >"$WORK/fuzz_files"
	# not exported: WORK also means something to a program in the documents
	run_child env WORK="$WORK" SRC="$SRC" SLOW="$SLOW" PYTHON="$PYTHON" FUZZ_COUNT="$FUZZ_COUNT" \
		xargs -a "$WORK/fuzz_files" -P 2 -I{} bash -c 'fuzz_one {}'
	for file in $(files "$FUZZ_FILES"); do
		name=fuzz_$(basename "$file" .py)
		status=$(cat "$WORK/$name.status" || echo 1)
		report "$file" $((status == 0)) $((status != 0)) "$WORK/log/$name.log"
	done
}

# Runs a program that ends with "N passed, N failed" itself.
counted() {
	local log=$1 status=$2 good bad
	good=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$log")
	bad=$(sed -n '$s/.* \([0-9]*\) failed$/\1/p' "$log")
	[ "$status" = 0 ] || [ "${bad:-0}" != 0 ] || bad=1
	count "${good:-0}" "${bad:-1}"
	sed 's/^/   /' "$log"
	[ "${bad:-1}" = 0 ] || fault "$(basename "$log")" < <(faults_of "$log")
}

# The SQL of the documents, their programs, and the names that they mention.
part_docs() {
	local log=$WORK/log/docs.log
	# shellcheck disable=SC2046
	run_child timeout -k 10 $((300 * SLOW)) env -C "$SRC" "$PYTHON" test/run/doc_examples.py \
		$(files 'README.md docs/*.md') >"$log" 2>&1
	counted "$log" $?
	log=$WORK/log/doc_clients.log
	createdb clutch_docs && psql -X -q -d clutch_docs -c 'CREATE EXTENSION clutch'
	PGDATABASE=clutch_docs run_child timeout -k 10 $((300 * SLOW)) bash "$SRC/test/run/doc_clients.sh" \
		>"$log" 2>&1
	counted "$log" $?
	log=$WORK/log/doc_names.log
	PGDATABASE=clutch_docs run_child timeout -k 10 60 "$PYTHON" "$SRC/test/run/doc_names.py" >"$log" 2>&1
	counted "$log" $?
	log=$WORK/log/doc_mapping.log
	run_child timeout -k 10 60 "$PYTHON" "$SRC/test/run/doc_mapping.py" >"$log" 2>&1
	counted "$log" $?
}

# The models are searched completely; this needs no server.
part_model() {
	local log=$WORK/log/model.log
	[ -n "$(files 'test/model/*.pml')" ] && runner spin cc || return 0
	run_child timeout -k 10 $((600 * SLOW)) bash "$TOP/test/run/models.sh" >"$log" 2>&1
	counted "$log" $?
}

# ------------------------------------------------------------------- the story

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

prepare check
work_new clutch-check
SRC=$WORK/src
as_server mkdir -p "$WORK/log"

part build part_build
if [ "$FAILED" = 0 ]; then
	# A copy is used, because the server's user may not be able to read the checkout, and
	# tests write files.
	mkdir "$SRC"
	tar -C "$TOP" --exclude='./.*' --exclude=./tmp_input --exclude='*.o' --exclude='*.so' -cf - . | tar -C "$SRC" -xf -
	[ "$(id -u)" != 0 ] || chown -R postgres: "$SRC"
	# Autovacuum is off, because while it writes statistics in a transaction, which tests do not expect,
	# later events cannot be sealed.  The tap tests create their own clusters, most of them with it.
	cluster_new "${NOT_DURABLE[@]}" "max_prepared_transactions = 10" "autovacuum = off" || die "the private cluster does not start"
	for name in $ONLY; do
		case " $PARTS " in
			*" $name "*) part "$name" "part_$name" ;;
			*) die "CHECK_ONLY: there is no part \"$name\" (there are: $PARTS)" ;;
		esac
	done
fi

say
printf '%-12s %8s %8s %8s\n' part passed failed time
printf '%s' "$TABLE"
[ -z "$FAULTS" ] || { say "the first faults:"; printf '%s' "$FAULTS" | head -n 11; }
[ "$FAILED" = 0 ] || say "logs: .check/"
say "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
