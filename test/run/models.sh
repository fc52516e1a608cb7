#!/usr/bin/env bash
# The models of test/model, over all interleavings (the part "model" of make check).
#
#   test/run/models.sh [FILE...]        default: all of them
#
# The head of each model says what is run, one line for each search:
#
#   RUN holds -D...                 no assertion fails, and nobody is blocked for ever
#   RUN ends -D...                  its ltl formula is true of every weakly fair run
#   RUN broken assertion|end -D...  with this mistake, the search of "holds" finds a
#                                   failed assertion, or somebody who is blocked
#   RUN broken cycle -D...          with this mistake, the search of "ends" finds a
#                                   run that goes on for ever
#
# Needs spin (Debian: spin) and a C compiler.  The last line is "N passed, N
# failed".

set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# search KIND OPTIMIZE: compiles the pan.c at hand and runs it, its output goes to ./out
search() {
	case $1 in
		ends) ${CC:-cc} "$2" -w -DNFAIR=3 -DMEMLIM=1024 -o pan pan.c && ./pan -a -f -b ;;
		holds) ${CC:-cc} "$2" -w -DSAFETY -DNOCLAIM -DMEMLIM=1024 -o pan pan.c && ./pan -b ;;
	esac >out 2>&1
}

# what the search found: nothing, assertion, end, cycle, or that it is not to be trusted
found() {
	if grep -q '^pan:.*assertion violated' out; then
		echo assertion
	elif grep -q '^pan:.*invalid end state' out; then
		echo end
	elif grep -q '^pan:.*acceptance cycle' out; then
		echo cycle
	elif grep -q 'errors: 0$' out && ! grep -qiE 'not completed|too small|out of memory' out; then
		echo nothing
	else
		echo "no end of the search"
	fi
}

# run_one MODEL SEARCH EXPECTED DEFINITION...: one line, and the way there if it is another
run_one() {
	local model=$1 kind=$2 expected=$3 folder result optimize=-O1
	shift 3
	folder=$(mktemp -d "$WORK/run.XXXXXX")
	cd "$folder" && cp "$model" . || exit 1
	model=${model##*/}
	# finding a mistake takes less time than optimizing the program
	[ "$expected" = nothing ] || optimize=-O0
	spin -a "$@" "$model" >spin.out 2>&1 && search "$kind" "$optimize"
	result=$(found 2>/dev/null)
	[ "$expected" = nothing ] || kind="finds $expected"
	if [ "$result" = "$expected" ]; then
		printf 'ok      %-12s %-16s %s\n' "$model" "$kind" "$*"
	else
		printf 'not ok  %-12s %-16s %s\n' "$model" "$kind" "$*"
		printf '        found: %s\n' "$result"
		{ cat spin.out out; spin -t -p -g "$@" "$model" | tail -n 60; } 2>/dev/null | head -n 120
	fi
	rm -rf "$folder"
}

# the RUN lines of a model as arguments of run_one; behind a tab is a remark
runs_of() {
	local what rest
	sed -n 's/^ \* RUN //p' "$1" | sed 's/\t.*//; s/ *$//' |
		while read -r what rest; do
			case "$what $rest" in
				holds*) echo "$1 holds nothing $rest" ;;
				ends*) echo "$1 ends nothing $rest" ;;
				"broken cycle"*) echo "$1 ends $rest" ;;
				*) echo "$1 holds $rest" ;;
			esac
		done | sed 's/ *$//'
}

[ $# != 0 ] || set -- "$TOP"/test/model/*.pml
for model in "$@"; do
	runs_of "$(realpath "$model")"
done >"$WORK/runs"

AT_ONCE=$(nproc)
[ "$AT_ONCE" -le 4 ] || AT_ONCE=4
export -f run_one search found
export WORK
nl -n rz "$WORK/runs" |
	xargs -P "$AT_ONCE" -L 1 bash -c 'no=$1; shift; run_one "$@" >"$WORK/result.$no"' run_one
cat "$WORK"/result.* >"$WORK/results"
cat "$WORK/results"

PASSED=$(grep -c '^ok ' "$WORK/results")
FAILED=$(($(wc -l <"$WORK/runs") - PASSED))
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
