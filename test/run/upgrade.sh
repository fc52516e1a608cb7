#!/usr/bin/env bash
# Upgrades a preloaded 0.1.0 that is at work to this checkout, with the libraries
# of both versions.  Run by hand, in a checkout with history.  It installs both
# into the PostgreSQL that PG_CONFIG names, the newer one last.
#
#   UPGRADE_FROM=COMMIT test/run/upgrade.sh      default: the last commit of 0.1.0
#   UPGRADE_DATA=FILE                            also writes the data of 0.1.0 there
#                                                (test/fixtures/in_flight_0.1.0.sql)

. "$(dirname "$0")/lib.sh"

FROM=${UPGRADE_FROM:-1a6a394}

finish() {
	local status=$?
	trap - EXIT
	[ -z "$WORK" ] || { cluster_stop immediate; rm -rf "$WORK"; }
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build_in() {
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -C "$1" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" all && as_root make -C "$1" PG_CONFIG="$PG_CONFIG" install
}

ask() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# is WHAT VALUE EXPECTED
is() {
	[ "$2" = "$3" ] && say "ok      $1" && return
	say "not ok  $1: $2, not $3"
	tail -n 20 "$WORK/server.log"
	exit 1
}

# soon WHAT QUERY: until it is true
soon() {
	local i
	for i in $(seq 100); do
		[ "$(ask -c "$2" 2>/dev/null)" = t ] && say "ok      $1" && return
		sleep 0.2
	done
	is "$1" false true
}

prepare check
work_new clutch-upgrade
mkdir "$WORK/old"
git -C "$TOP" archive "$FROM" | tar -C "$WORK/old" -xf - || die "no history: $FROM"
build_in "$WORK/old" >"$WORK/old.log" 2>&1 || { tail -n 20 "$WORK/old.log"; die "0.1.0 does not build"; }
cluster_new "${NOT_DURABLE[@]}" "shared_preload_libraries = 'clutch'" "clutch.tick_interval = 1s" \
	"clutch.clock = '2026-01-01T12:00:30Z'" "clutch.default_deadline = 0" || die "no cluster"
ask -f "$TOP/test/fixtures/in_flight.sql" >/dev/null || die "0.1.0 does not work"
is "0.1.0 is at work" "$(ask -c 'SELECT clutch.version()')" 0.1.0
[ -z "${UPGRADE_DATA:-}" ] || pg_dump -a -n clutch -e clutch >"$UPGRADE_DATA"

build >"$WORK/new.log" 2>&1 || { tail -n 20 "$WORK/new.log"; die "this version does not build"; }
is "installed, not restarted: sessions go on with the old library" "$(ask -c "SELECT late FROM clutch.progress('agent:ken', 'runs', '{}', 1)")" f
cluster_stop fast
cluster_start "$WORK" || die "does not start"
is "restarted: what the old SQL cannot do fails with a clear error" \
	"$(ask -c "SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:x}'))" 2>&1 | grep -c 'ALTER EXTENSION')" 1
ask -c 'ALTER EXTENSION clutch UPDATE' || die "cannot be updated"
is "updated" "$(ask -c 'SELECT clutch.version()')" "$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$TOP/clutch.control")"
is "check() finds nothing" "$(ask -c 'SELECT count(*) FROM clutch.check() WHERE code <> '\''TIMER_OVERDUE'\''')" 0
is "an agent finishes what it claimed from 0.1.0" "$(ask -c "SELECT late FROM clutch.finish('agent:ken', 'runs', '{}', 1)")" f
ask -c "SET clutch.clock = '2026-01-01T12:00:00Z'" \
	-c "SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:none}', run_id => 'run:new', task_id => 'new', deadline => '1 second'))" >/dev/null
soon "the worker ticks" "SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'new'"
say "upgraded"
