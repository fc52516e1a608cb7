#!/usr/bin/env bash
# The figures (make bench): installs what is missing, builds, starts a private
# cluster that is as durable as a real one, and runs test/bench on it.  Arguments
# are passed on to test/bench.

. "$(dirname "$0")/lib.sh"

finish() {
	local status=$?
	trap - EXIT
	trap '' INT TERM HUP	# make passes a signal on to a script that already has it
	end_child
	[ -z "$WORK" ] || { cluster_stop immediate; rm -rf "$WORK"; }
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

prepare bench
work_new clutch-bench
build >"$WORK/build.log" 2>&1 || { tail -n 40 "$WORK/build.log" >&2; die "does not build"; }
cluster_new "shared_buffers = 512MB" "max_wal_size = 4GB" "jit = off" "checkpoint_timeout = 30min" \
	"shared_preload_libraries = 'clutch'" "max_worker_processes = 32" ||
	die "the private cluster does not start"
run_child timeout -k 10 7200 "$PYTHON" "$TOP/test/bench/bench.py" "$@"
