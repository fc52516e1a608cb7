#!/usr/bin/env bash
# Runs the programs of test/clients: the verbs of clutch through real drivers.
#
#   clients.sh [PROGRAM...]     the server is named by PGHOST (a folder), PGPORT and
#                               PGUSER, a superuser; the extension is installed there
#
# Installs the drivers and a JDK if they are missing; pgbouncer is only unpacked,
# into .clients/, because Debian's package would start a service.  Each program has a
# database of its own, which is dropped afterwards.  The last line is "N passed, N
# failed", the exit status is 0 if nothing failed.

. "$(dirname "$0")/lib.sh"

CLIENTS=$TOP/test/clients
JAR=/usr/share/java/postgresql.jar
DATABASE=clutch_clients
POOLER=
PASSED=0
FAILED=0

finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	end_child
	[ -z "$POOLER" ] || { kill "$POOLER"; wait "$POOLER"; } 2>/dev/null
	[ -z "$WORK" ] || rm -rf "$WORK"
	exit $status
}

# A pgbouncer with the database itself (pool_mode = transaction), and under the name
# session_DATABASE for JDBC, which has no unix sockets.
pooler_start() {
	local i
	PORT=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	echo '"clutch_client" ""' | as_server tee "$WORK/users" >/dev/null
	{
		printf '%s\n' '[databases]' \
			"$DATABASE = host=$PGHOST port=$PGPORT pool_size=2" \
			"session_$DATABASE = host=$PGHOST port=$PGPORT dbname=$DATABASE pool_mode=session" \
			'[pgbouncer]' "unix_socket_dir = $WORK" 'listen_addr = 127.0.0.1' "listen_port = $PORT" \
			'auth_type = trust' "auth_file = $WORK/users" 'pool_mode = transaction' \
			'ignore_startup_parameters = extra_float_digits'
		! [ "$(printf '%s\n' 1.21 "$POOLER_VERSION" | sort -V | head -n 1)" = 1.21 ] ||
			echo 'max_prepared_statements = 100'
	} | as_server tee "$WORK/pgbouncer.ini" >/dev/null
	as_server "$PGBOUNCER" -q "$WORK/pgbouncer.ini" >"$WORK/pgbouncer.log" 2>&1 &
	POOLER=$!
	for ((i = 0; i < 100; i++)); do
		[ ! -S "$WORK/.s.PGSQL.$PORT" ] || return 0
		sleep 0.1
	done
	cat "$WORK/pgbouncer.log"
	return 1
}

# unit NAME COMMAND...: one program in a new database; counts the lines of TAP
unit() {
	local name=$1 log=$WORK/log status good bad
	shift
	dropdb --if-exists --force "$DATABASE" 2>/dev/null
	createdb "$DATABASE" &&
		psql -X -q -d "$DATABASE" -v ON_ERROR_STOP=1 -f "$CLIENTS/setup.sql" >"$log" 2>&1 ||
		{ sed 's/^/    /' "$log"; FAILED=$((FAILED + 1)); return; }
	run_child timeout -k 5 120 env PGUSER=clutch_client PGDATABASE="$DATABASE" "$@" >"$log" 2>&1
	status=$?
	good=$(grep -cE '^ok [0-9]' "$log")
	bad=$(grep -cE '^not ok [0-9]' "$log")
	[ $status = 0 ] && [ "$good" != 0 ] || [ "$bad" != 0 ] || bad=1
	PASSED=$((PASSED + good))
	FAILED=$((FAILED + bad))
	printf '%-24s %4d passed %4d failed\n' "$name" "$good" "$bad"
	[ "$bad" = 0 ] || { grep -A 2 '^not ok' "$log"; tail -n 12 "$log"; } | sed 's/^/    /'
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

find_programs
prepare_clients || die "cannot install the drivers"
work_new clutch-clients
chmod 755 "$WORK"
POOLER_VERSION=$("$PGBOUNCER" --version | sed -n 's/^PgBouncer //p')
pooler_start || die "pgbouncer does not start"

for program in "${@:-$CLIENTS/*}"; do
	for file in $program; do
		name=$(basename "$file")
		case $name in
			driver_*.py) unit "$name" "$PYTHON" "$file" ;;
			driver_*.js) unit "$name" "${NODE:-node}" "$file" ;;
			Driver*.java) unit "$name" java -cp "$JAR" "$file" \
				"jdbc:postgresql://127.0.0.1:$PORT/session_$DATABASE?user=clutch_client" ;;
			pooler.py) unit "$name $POOLER_VERSION" env PGHOST="$WORK" PGPORT="$PORT" "$PYTHON" "$file" "$POOLER_VERSION" ;;
		esac
	done
done
dropdb --if-exists --force "$DATABASE"
psql -X -q -d postgres -c 'DROP ROLE IF EXISTS clutch_client'

echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
