#!/usr/bin/env bash
# The counts of make bench-instructions: installs what is missing, builds, makes
# the databases on a private cluster, and starts it again under valgrind to count.
# test/bench/instructions.py says what is counted and how to read it.

. "$(dirname "$0")/lib.sh"

# Removes the folder.  The server may still be writing its own profile there.
remove_work() {
	timeout 20 sh -c 'until rm -rf "$1" 2>/dev/null; do sleep 0.1; done' sh "$WORK"
}

finish() {
	local status=$?
	trap - EXIT
	trap '' INT TERM HUP	# make passes a signal on to a script that already has it
	end_child
	[ -z "$WORK" ] || { cluster_stop immediate; remove_work; }
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Writes a program that runs the server under callgrind: each process of the
# server leaves a file named after its number when it ends.
valgrind_server() {
	as_server mkdir "$WORK/profiles"
	as_server tee "$WORK/postgres" >/dev/null <<-END
		#!/bin/sh
		exec valgrind -q --tool=callgrind --trace-children=yes \\
			--callgrind-out-file="$WORK/profiles/%p" "$BINDIR/postgres" "\$@"
	END
	as_server chmod +x "$WORK/postgres"
}

prepare instructions
work_new clutch-instructions
build >"$WORK/build.log" 2>&1 || { tail -n 40 "$WORK/build.log" >&2; die "does not build"; }
cluster_new "${NOT_DURABLE[@]}" "shared_buffers = 128MB" "max_wal_size = 4GB" "jit = off" \
	"autovacuum = off" "log_connections = on" "log_line_prefix = '%p '" "checkpoint_timeout = 1h" "max_parallel_workers_per_gather = 0" ||
	die "the private cluster does not start"
run_child timeout -k 10 600 "$PYTHON" "$TOP/test/bench/instructions.py" databases || exit 1
cluster_stop
valgrind_server
cluster_start "$WORK" "$WORK/postgres" || die "the server does not start under valgrind"
run_child timeout -k 10 3600 "$PYTHON" "$TOP/test/bench/instructions.py" count "$WORK/profiles" "$WORK/server.log"
