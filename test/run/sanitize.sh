#!/usr/bin/env bash
# The tests against a server built with AddressSanitizer, UndefinedBehaviorSanitizer
# and assertions.  Run by hand; make check does not.
#
#   test/run/sanitize.sh            everything
#   test/run/sanitize.sh build      only the server
#
# The first run downloads Debian's source package of PostgreSQL and compiles it,
# which takes about nine minutes on two cores.  The server, a copy of the checkout
# and the logs stay in SANITIZE_FOLDER (/tmp/clutch-sanitize), so a
# later run only compiles the extension.  Delete the folder to start afresh.
#
#   SANITIZE_PARTS="pgtap isolation walks chaos hostile adapters trust"    which tests
#   SANITIZE_HOSTILE=200000    hostile envelopes, and as many hostile calls
#   SANITIZE_WALKS=20000       as the argument of test/fuzz/walks.py
#   SANITIZE_ADAPTERS=20000    documents of each adapter, for test/fuzz/adapters.py; as many texts as all of
#                              them together for test/fuzz/credentials.py
#   SANITIZE_MINUTES=60        how long part trust fuzzes schemas, canonical forms,
#                              signatures, YAML and ranges, each round with a new seed;
#                              it prints how many executions these were, and how many
#                              edges of the code they have reached
#
# The last line is "N passed, N failed".  Every report of a sanitizer and every
# failed assertion counts as a failure, even if the test that caused it passed.

. "$(dirname "$0")/lib.sh"

FOLDER=${SANITIZE_FOLDER:-/tmp/clutch-sanitize}
PARTS=${SANITIZE_PARTS:-pgtap isolation walks chaos hostile adapters trust}
PREFIX=$FOLDER/server
PASSED=0
FAILED=0

# Leaks are not reported, because memory contexts end with the process.  Fake
# stacks would break the server's check of the stack depth.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
export OPTIMIZE=	# of the Makefile: an optimizer removes what a sanitizer would report

# ------------------------------------------------------------------ the server

# Packages that only this script needs.
BUILD_PACKAGES="gcc make libc6-dev bison flex bzip2 perl liblz4-dev ca-certificates
	debian-archive-keyring libasan8 libubsan1"

# Runs apt with its own sources list and index, so that those of the machine are
# not changed.
private_apt() {
	"$1" -q -o Dir::Etc::SourceList="$FOLDER/apt/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::Lists="$FOLDER/apt/lists" -o Dir::Cache="$FOLDER/apt/cache" \
		-o APT::Sandbox::User=root "${@:2}"
}

# Tries the newest version first.  The index of a mirror may name a version that the
# mirror no longer has, or not yet; then the next older one is used.
download_source() {
	local codename key=/usr/share/keyrings/debian-archive-keyring.gpg version
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
	mkdir -p "$FOLDER/apt/lists/partial" "$FOLDER/apt/cache/archives/partial" "$FOLDER/source"
	{
		echo "deb-src [signed-by=$key] http://deb.debian.org/debian $codename main"
		[ "$codename" = sid ] ||
			echo "deb-src [signed-by=$key] http://deb.debian.org/debian-security $codename-security main"
	} >"$FOLDER/apt/sources.list"
	private_apt apt-get update || return 1
	cd "$FOLDER/source" || return 1
	for version in $(private_apt apt-cache showsrc --only-source "postgresql-$PG_MAJOR" |
			sed -n 's/^Version: //p' | sort -rV | uniq); do
		private_apt apt-get source --download-only --only-source "postgresql-$PG_MAJOR=$version" &&
			return 0
	done
	return 1
}

configure_and_install() {
	local sanitizers="-fsanitize=address,undefined"
	./configure --prefix="$PREFIX" --enable-cassert --enable-debug --enable-tap-tests \
		--without-readline --without-zlib --without-icu --with-lz4 \
		CFLAGS="-O1 -g $sanitizers -fno-sanitize=alignment -fno-omit-frame-pointer" \
		LDFLAGS="$sanitizers" &&
		nice -n 10 make -s -j"$(nproc)" && nice -n 10 make -s install &&
		# a test uses this extension
		nice -n 10 make -s -C contrib/citext install &&
		# The frames of instrumented functions are several times as large.
		echo "max_stack_depth = 6MB" >>"$("$PREFIX/bin/pg_config" --sharedir)/postgresql.conf.sample"
}

build_server() {
	local missing log=$FOLDER/server.log tarball
	[ ! -e "$FOLDER/built" ] || return 0
	say "building the server in $FOLDER (about nine minutes; log: $log)"
	# shellcheck disable=SC2086
	missing=$(for package in $BUILD_PACKAGES; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			echo "$package"
	done)
	{
		# shellcheck disable=SC2086
		[ -z "$missing" ] || install_packages $missing || return 1
		download_source || return 1
		tarball=$(echo "$FOLDER"/source/postgresql-*.orig.tar.*)
		rm -rf "$FOLDER/tree" "$PREFIX"
		mkdir "$FOLDER/tree" && tar -xf "$tarball" --strip-components=1 -C "$FOLDER/tree" &&
			(cd "$FOLDER/tree" && configure_and_install) || return 1
		rm -rf "$FOLDER/tree"
		touch "$FOLDER/built"
	} >"$log" 2>&1 </dev/null
}

# ------------------------------------------------------------------- the tests

# counted NAME COMMAND...: runs what ends with "N passed, N failed"
counted() {
	local name=$1 log=$FOLDER/log/$1.log status good bad
	shift
	say "== $name"
	run_child "$@" >"$log" 2>&1
	status=$?
	rm -rf "$FOLDER/log/$name"
	cp -r "$FOLDER/copy/.check" "$FOLDER/log/$name"
	good=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$log")
	bad=$(sed -n '$s/.* \([0-9]*\) failed$/\1/p' "$log")
	[ "$status" = 0 ] || [ "${bad:-0}" != 0 ] || bad=1
	PASSED=$((PASSED + ${good:-0}))
	FAILED=$((FAILED + ${bad:-1}))
	[ "${bad:-1}" = 0 ] || tail -n 60 "$log" | sed 's/^/   /'
	say "   ${good:-0} passed, ${bad:-1} failed"
}

# The sanitizers write to stderr, which is the log of the server.  (A log_path of
# their own is not reliable: PostgreSQL overwrites the environment to show what a
# process does, and UBSan reads it only when it has something to report.)
count_reports() {
	local pattern='runtime error: |ERROR: AddressSanitizer|^TRAP: |DEADLYSIGNAL' n
	say "== sanitizers"
	n=$(grep -rhaE "$pattern" "$FOLDER/log" | sed 's/==[0-9]*==//; s/0x[0-9a-f]*/0x/g' | sort -u | wc -l)
	grep -raE -A12 "$pattern" "$FOLDER/log" | cut -c1-200 | head -n 120
	[ "$n" = 0 ] && PASSED=$((PASSED + 1)) || FAILED=$((FAILED + n))
	say "   $n different reports"
}

# The programs for adapters and for credentials, which need more time than others.
fuzz_adapters() {
	local n
	n=$(ls "$FOLDER/copy/test/fixtures/adapters/"*.json | wc -l)
	counted adapters env CHECK_SLOW=100 CHECK_ONLY=fuzz CHECK_FUZZ="test/fuzz/adapters.py test/fuzz/credentials.py" \
		CHECK_FUZZ_COUNT=$((n * ${SANITIZE_ADAPTERS:-20000})) "$1"
	grep -hv ' late: ' "$FOLDER/log/adapters/fuzz_adapters.log" "$FOLDER/log/adapters/fuzz_credentials.log" | cut -c1-200 | sed 's/^/   /'
}

# Rounds of the programs that fuzz contracts and trust, until the time is over.
fuzz_trust() {
	local round=0 end=$((SECONDS + 60 * ${SANITIZE_MINUTES:-60}))
	export COPT=--coverage GCOV_PREFIX=$FOLDER/edges
	rm -rf "$GCOV_PREFIX"
	mkdir -m 1777 "$GCOV_PREFIX"
	find "$FOLDER/copy" -name '*.o' -delete
	while [ "$SECONDS" -lt "$end" ]; do
		round=$((round + 1))
		counted "trust_$round" env CLUTCH_FUZZ_SEED="$round" CHECK_ONLY=fuzz CHECK_FUZZ_COUNT=20000 \
			CHECK_FUZZ="$(printf 'test/fuzz/%s.py ' schemas canonical signatures workflow_yaml ranges)" "$1"
	done
	say "   $(cat "$FOLDER"/log/trust_*/fuzz_*.log | awk '/^executions:/ { n += $2 } END { print n }') executions"
	/usr/bin/python3 "$TOP/test/run/edges.py" "$GCOV_PREFIX" "$FOLDER/copy"
	unset COPT GCOV_PREFIX
}

copy_checkout() {
	rm -rf "$FOLDER/copy"
	mkdir "$FOLDER/copy"
	tar -C "$TOP" --exclude='./.*' --exclude='*.o' --exclude='*.so' -cf - . |
		tar -C "$FOLDER/copy" -xf -
}

# pgTAP is SQL only, so the packaged files work with any server of the same version.
copy_pgtap() {
	cp "$("$1" --sharedir)"/extension/pgtap* "$("$PREFIX/bin/pg_config" --sharedir)/extension/" ||
		die "pgTAP could not be copied"
}

run_tests() {
	local part check=$FOLDER/copy/test/run/check.sh
	# Everything is several times as slow, and neither times nor the size of a backend
	# mean anything.
	export CHECK_LOGS=always CHECK_SLOW=10 CHECK_SKIP=held_snapshot CLUTCH_FUZZ_GROWTH_KB=100000000 PG_TEST_TIMEOUT_DEFAULT=900
	for part in $PARTS; do
		case $part in
			pgtap | isolation)
				counted "$part" env CHECK_ONLY="$part" "$check" ;;
			chaos)
				counted chaos env CHECK_ONLY=tap CHECK_TAP=test/t/020_chaos.pl "$check" ;;
			walks)
				counted walks env CHECK_ONLY=fuzz CHECK_FUZZ=test/fuzz/walks.py \
					CHECK_FUZZ_COUNT="${SANITIZE_WALKS:-20000}" "$check" ;;
			hostile)
				counted hostile env CHECK_ONLY=fuzz \
					CHECK_FUZZ="test/fuzz/hostile.py test/fuzz/functions.py" \
					CHECK_FUZZ_COUNT="${SANITIZE_HOSTILE:-200000}" "$check" ;;
			adapters)
				fuzz_adapters "$check" ;;
			trust)
				fuzz_trust "$check" ;;
			*)
				die "SANITIZE_PARTS: there is no part \"$part\"" ;;
		esac
	done
}

# In a function, so that bash has read all of it before it begins: a run takes
# long, and the file may be edited meanwhile.
main() {
	trap 'end_child; exit 130' INT
	trap 'end_child; exit 143' TERM HUP

	prepare check
	mkdir -p "$FOLDER/log" || die "cannot make $FOLDER"
	build_server || { tail -n 40 "$FOLDER/server.log" >&2; die "the server could not be built"; }
	[ "${1:-}" != build ] || exit 0

	rm -rf "$FOLDER/log"
	mkdir "$FOLDER/log"
	copy_checkout
	copy_pgtap "$PG_CONFIG"
	ulimit -s 65536 2>/dev/null || ulimit -s "$(ulimit -H -s)"
	export PG_CONFIG=$PREFIX/bin/pg_config

	run_tests
	count_reports
	say "$PASSED passed, $FAILED failed"
	[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
}

main "$@"
exit
