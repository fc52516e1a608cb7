#!/usr/bin/env bash
# Runs the programs of test/clients, the verbs of clutch through real drivers, and those
# of docs/drivers.md.
#
#   clients.sh [NAME...]        only programs of these names, such as driver_pg.js
#
# PGHOST (a folder), PGPORT and PGUSER (a superuser) name the server, on which the
# extension must be installed.
#
# Installs the drivers and a JDK if they are missing, and libraries of npm into .node/;
# pgbouncer is only unpacked, into .clients/, because Debian's package would start a service.  Each program has a
# database of its own, which is dropped afterwards.  The last line is "N passed, N
# failed", the exit status is 0 if nothing failed.

. "$(dirname "$0")/lib.sh"

CLIENTS=$TOP/test/clients
JAR=/usr/share/java/postgresql.jar
DATABASE=clutch_clients
POOLER=
ONLY=$*
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
	# The server's user may not be able to enter the checkout.  as_server is not used
	# here, because $! would be the shell that runs that function.
	install -m 755 "$PGBOUNCER" "$WORK/pgbouncer"
	"${AS_SERVER[@]}" "$WORK/pgbouncer" -q "$WORK/pgbouncer.ini" >"$WORK/pgbouncer.log" 2>&1 &
	POOLER=$!
	for ((i = 0; i < 100; i++)); do
		[ ! -S "$WORK/.s.PGSQL.$PORT" ] || return 0
		sleep 0.1
	done
	cat "$WORK/pgbouncer.log"
	return 1
}

# the template of the programs' databases
template_new() {
	template_drop
	createdb "${DATABASE}_setup" && psql -X -q -d "${DATABASE}_setup" -v ON_ERROR_STOP=1 -f "$CLIENTS/setup.sql" >/dev/null
}

template_drop() {
	dropdb --if-exists --force "$DATABASE"
	dropdb --if-exists --force "${DATABASE}_setup"
} 2>/dev/null

database_new() {
	dropdb --if-exists --force "$DATABASE" 2>/dev/null
	createdb -T "${DATABASE}_setup" "$DATABASE"
}

# wanted NAME: whether the arguments of the script name the program, or none
wanted() { [ -z "$ONLY" ] || [[ " $ONLY " == *" $1 "* ]]; }

# verdict NAME PASSED FAILED
verdict() {
	PASSED=$((PASSED + $2))
	FAILED=$((FAILED + $3))
	printf '%-32s %4d passed %4d failed\n' "$1" "$2" "$3"
	[ "$3" = 0 ] || { grep -A 2 '^not ok' "$WORK/log"; tail -n 12 "$WORK/log"; } | sed 's/^/    /'
}

as_client() {
	run_child timeout -k 5 120 env PGUSER=clutch_client PGDATABASE="$DATABASE" "$@" >"$WORK/log" 2>&1
}

# unit NAME COMMAND...: one program in a new database; counts the lines of TAP
unit() {
	local name=$1 status good bad
	shift
	wanted "${name%% *}" || return 0
	database_new >"$WORK/log" 2>&1 || { verdict "$name" 0 1; return; }
	as_client "$@"
	status=$?
	good=$(grep -cE '^ok [0-9]' "$WORK/log")
	bad=$(grep -cE '^not ok [0-9]' "$WORK/log")
	[ $status = 0 ] && [ "$good" != 0 ] || [ "$bad" != 0 ] || bad=1
	verdict "$name" "$good" "$bad"
}

# shown NAME COMMAND...: a program of docs/drivers.md, with a task for it, and what it prints
shown() {
	local name=$1
	shift
	wanted "$name" || return 0
	awk -v name="$name" '
		/^```/	{ if (inside && found) exit; inside = !inside; text = ""; next }
		inside	{ text = text $0 "\n" }
		inside && ($0 == "# " name || $0 == "// " name)	{ found = 1 }
		found	{ kept = text }
		END		{ printf "%s", kept }' "$TOP/docs/drivers.md" >"$WORK/$name"
	database_new >"$WORK/log" 2>&1 && psql -X -q -d "$DATABASE" -v ON_ERROR_STOP=1 <<'SQL' >"$WORK/log" 2>&1
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:clerk", "capabilities": [{"id": "skill:orders"}]}');
SELECT clutch.send(clutch.envelope('task.request', 'agent:shop', payload => '{"order": 1}', requires => '{skill:orders}',
	task_id => 'task:1'));
SQL
	as_client "$@" "$WORK/$name" ${URL:+"$URL"}
	if [ "$(cat "$WORK/log")" = $'finished task:1\n42501 NOT_YOUR_AGENT' ]; then
		verdict "drivers.md: $name" 1 0
	else
		verdict "drivers.md: $name" 0 1
	fi
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
template_new || die "the extension cannot be created"

URL=
JDBC="jdbc:postgresql://127.0.0.1:$PORT"
BEHIND="env PGHOST=$WORK PGPORT=$PORT"
for file in "$CLIENTS"/driver_*.py; do
	unit "$(basename "$file")" "$PYTHON" "$file"
done
unit gateway.py "$PYTHON" "$CLIENTS/gateway.py"
unit driver_pg.js "${NODE:-node}" "$CLIENTS/driver_pg.js"
unit DriverJdbc.java java -cp "$JAR" "$CLIENTS/DriverJdbc.java" "$JDBC/session_$DATABASE?user=clutch_client"
unit langgraph.mjs "${NODE:-node}" "$CLIENTS/langgraph.mjs"
unit mcp.mjs "${NODE:-node}" "$CLIENTS/mcp.mjs"
# shellcheck disable=SC2086
{
	unit "pooler.py $POOLER_VERSION" $BEHIND "$PYTHON" "$CLIENTS/pooler.py" "$POOLER_VERSION"
	unit "driver_pg.js pooled" $BEHIND "${NODE:-node}" "$CLIENTS/driver_pg.js" pooled
}
unit "DriverJdbc.java pooled" java -cp "$JAR" "$CLIENTS/DriverJdbc.java" \
	"$JDBC/$DATABASE?user=clutch_client&prepareThreshold=0"
for name in psycopg psycopg2 asyncpg sqlalchemy; do
	shown use_$name.py "$PYTHON"
done
shown use_pg.js "${NODE:-node}"
URL="$JDBC/session_$DATABASE?user=clutch_client"
shown UseJdbc.java java -cp "$JAR"

template_drop
psql -X -q -d postgres -c 'DROP ROLE IF EXISTS clutch_client'

echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
