#!/usr/bin/env bash
# Upgrades a cluster in which clutch is at work from PostgreSQL 15 to 17, with
# pg_upgrade.  By hand, in a bare Debian 13, which gets PostgreSQL 15 from Debian 12:
#
#   BARE_SUITE=trixie BARE_RUN=test/run/pg_upgrade.sh test/run/bare.sh
#
# Prints a line for each thing that must hold, and stops at the first that does not.

. "$(dirname "$0")/lib.sh"

OLD=/usr/lib/postgresql/15/bin
NEW=/usr/lib/postgresql/17/bin
WORK=
export PGUSER=postgres PGDATABASE=postgres

finish() {
	local status=$?
	trap - EXIT
	[ -z "$WORK" ] || { stop "$NEW" new; stop "$OLD" old; rm -rf "$WORK"; }
	exit $status
}
trap finish EXIT

server() { env -C / setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
start() { server "$1/pg_ctl" -s -w -D "$WORK/$2" -l "$WORK/$2.log" -o "-k $WORK -c listen_addresses=''" start; }
stop() { [ ! -e "$WORK/$2/postmaster.pid" ] || server "$1/pg_ctl" -s -w -m fast -D "$WORK/$2" stop; }
ask() { "$NEW/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h "$WORK" "$@"; }

# is WHAT VALUE EXPECTED
is() {
	[ "$2" = "$3" ] && say "ok      $1" && return
	die "$1: $2, not $3"
}

# From Debian 12, only what PostgreSQL 15 needs.
install() {
	local mirror
	mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\).*/\2/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -m 1 '/debian/*$')
	echo "deb ${mirror:-http://deb.debian.org/debian} bookworm main" >/etc/apt/sources.list.d/old.list
	printf 'Package: *\nPin: release n=bookworm\nPin-Priority: 100\n' >/etc/apt/preferences.d/old
	install_packages make gcc libc6-dev libsodium-dev libyaml-dev postgresql-15 postgresql-server-dev-15 \
		postgresql-17 postgresql-server-dev-17 >"$1" 2>&1 || { tail -n 20 "$1"; die "packages are missing"; }
}

build_for() {
	make -C "$TOP" clean PG_CONFIG="$1/pg_config" >/dev/null 2>&1
	make -C "$TOP" -s -j"$(nproc)" PG_CONFIG="$1/pg_config" all install >"$2" 2>&1 || { tail -n 20 "$2"; die "does not build for $1"; }
}

# how many unread events up to a seq the subscription has; a read ends at the end of a transaction
READ_ON='CREATE FUNCTION public.read_on(last bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	total bigint := 0;
	part record;
BEGIN
	LOOP
		SELECT count(*) FILTER (WHERE r.seq <= last) AS n, max(r.pos) AS pos INTO part FROM clutch.read($r$all$r$, 1000) r;
		EXIT WHEN part.pos IS NULL;
		PERFORM clutch.commit($r$all$r$, part.pos);
		total := total + part.n;
	END LOOP;
	RETURN total;
END $$'

log_of() { ask -c "SELECT md5(string_agg(e::text, '' ORDER BY seq)) FROM clutch.events e $1"; }

WORK=$(mktemp -d /tmp/clutch-pg-upgrade.XXXXXX)
install "$WORK/install.log"
chown postgres "$WORK"
chmod 711 "$WORK"
build_for "$OLD" "$WORK/build.log"
build_for "$NEW" "$WORK/build.log"
server "$OLD/initdb" -D "$WORK/old" -A trust --no-locale -E UTF8 >"$WORK/initdb.log" || die "no old cluster"
server "$NEW/initdb" -D "$WORK/new" -A trust --no-locale -E UTF8 >"$WORK/initdb.log" 2>&1 || die "no new cluster"

start "$OLD" old || die "the old cluster does not start"
ask -c 'CREATE ROLE app LOGIN' -f "$TOP/test/fixtures/in_flight.sql" -c "SELECT clutch.grant_agent('app', 'agent:ken')" >/dev/null || die "the old cluster does not work"
ask -c "ALTER DATABASE postgres SET clutch.clock = '2026-01-01T12:00:30Z'" -c 'ALTER DATABASE postgres SET clutch.default_deadline = 0' \
	-c "SELECT clutch.commit('all', (SELECT max(pos) FROM clutch.read('all', 5)))" -c "$READ_ON" >/dev/null
log=$(log_of '')
last=$(ask -c 'SELECT max(seq) FROM clutch.events')
unread=$(ask -c "SELECT count(*) - 5 FROM clutch.events")
tasks=$(ask -c "SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.tasks")
stop "$OLD" old
server env -C "$WORK" "$NEW/pg_upgrade" -b "$OLD" -B "$NEW" -d "$WORK/old" -D "$WORK/new" -U postgres >"$WORK/upgrade.log" 2>&1 ||
	{ tail -n 20 "$WORK/upgrade.log"; die "pg_upgrade fails"; }
say "ok      pg_upgrade"

start "$NEW" new || die "the new cluster does not start"
is "it is PostgreSQL 17" "$(ask -c "SELECT current_setting('server_version_num')::int / 10000")" 17
is "the log is what it was" "$(log_of "WHERE seq <= $last")" "$log"
is "the tasks are what they were" "$(ask -c "SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.tasks")" "$tasks"
is "check() finds nothing" "$(ask -c "SELECT string_agg(code, ' ') FROM clutch.check() WHERE code <> 'TIMER_OVERDUE'")" ""
is "a subscription goes on where it was" "$(ask -c "SELECT read_on($last)")" "$unread"
is "the role of an agent claims" "$(ask -U app -c "SELECT count(*) > 0 FROM clutch.claim('agent:ken', 9, '300 days')")" t
is "and finishes what was in flight" "$(ask -U app -c "SELECT late FROM clutch.tasks t, clutch.finish('agent:ken', t.task_id, '{}', t.attempt) WHERE t.task_id = 'runs'")" f
is "a question is answered" "$(ask -c "SELECT late FROM clutch.answer('asks', '{\"yes\": true}', 'agent:ui')")" f
is "new work is routed" "$(ask -c "SELECT ask('new')" -c "SELECT status FROM clutch.tasks WHERE task_id = 'new'" | tr -d '\n')" assigned
is "a rebuild finds the same tasks" "$(ask -c 'CREATE TEMP TABLE before AS SELECT task_id, status FROM clutch.task' -c 'SELECT clutch.rebuild()' \
	-c 'SELECT count(*) FROM (SELECT task_id, status FROM clutch.task EXCEPT SELECT * FROM before) d' | tail -n 1)" 0
is "check() finds nothing afterwards" "$(ask -c "SELECT string_agg(code, ' ') FROM clutch.check() WHERE code <> 'TIMER_OVERDUE'")" ""
say "upgraded"
