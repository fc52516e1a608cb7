#!/usr/bin/env bash
# Runs the programs of docs/reference.md, scaling.md, signatures.md and tutorial.md against a server
# that the PG* environment names, and which must be running.
#
# Those of the reference, scaling.md and signatures.md run in the database of PGDATABASE, which has the
# extension.  The tutorial's run in a database that its own SQL sets up, as the
# roles that it creates; both are dropped afterwards.  Each program must do what
# the text says of it.  One line per promise; the last line is "N passed, N
# failed", the exit status is 0 if nothing failed.

set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PYTHON=${PYTHON:-/usr/bin/python3}
NODE=${NODE:-node}
DIR=$(mktemp -d)
WORKER=
WORKERS=()
PASSED=0
FAILED=0
PROMISES=57		# how many verdicts a whole run has
TUTORIAL=clutch_tutorial
ROLES="shop clerk writer"
MADE=
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

finish() {
	end_worker
	tutorial_drop
	rm -rf "$DIR"
}

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# program DOCUMENT NAME: the block whose first line is a comment that begins with
# that name
program() {
	awk -v name="$2:" '
		/^```/	{ if (inside && found) exit; inside = !inside; text = ""; found = 0; next }
		inside	{ text = text $0 "\n" }
		inside && (index($0, "# " name) == 1 || index($0, "// " name) == 1)	{ found = 1 }
		found	{ kept = text }
		END		{ printf "%s", kept }' "$TOP/docs/$1" >"$DIR/$2"
	[ -s "$DIR/$2" ] || { echo "docs/$1 has no $2"; exit 1; }
}

# start COMMAND...: runs it in the background; WORKER is the process started last.  A
# process that is told to end has time to complete its current work.
start() {
	timeout -k 30 120 "$@" >"$DIR/log" 2>&1 &
	WORKER=$!
	WORKERS+=("$WORKER")
}

# ends all of them
end_worker() {
	local pid
	for pid in "${WORKERS[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	WORKERS=()
	WORKER=
}

verdict() {
	if [ "$2" = "$3" ]; then
		PASSED=$((PASSED + 1))
		echo "$1 passed"
	else
		FAILED=$((FAILED + 1))
		echo "$1 failed: wanted \"$3\", got \"$2\""
		[ ! -s "$DIR/log" ] || sed 's/^/    /' "$DIR/log"
	fi
}

# until_true NAME QUERY: the query must return true, within a minute
until_true() {
	local i got=
	for ((i = 0; i < 600; i++)); do
		got=$(sql -c "$2")
		[ "$got" != t ] || break
		sleep 0.1
	done
	verdict "$1" "$got" t
}

# completed NAME TASK PROMISE
completed() {
	until_true "$1: $3" "SELECT count(*) = 1 FROM clutch.result('$2') WHERE status = 'completed'"
}

# said NAME TEXT: the program must print it, within a minute
said() {
	local i
	for ((i = 0; i < 600; i++)); do
		! grep -q "$2" "$DIR/log" || break
		sleep 0.1
	done
	verdict "$1: says \"$2\"" "$(grep -c "$2" "$DIR/log")" 1
}

# --------------------------------------------------------------- the reference

# worker AGENT COMMAND...: registers the agent, and runs the program for it
worker() {
	local agent=$1
	shift
	sql -v agent="$agent" <<'SQL' >/dev/null || return 1
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', :'agent',
	'capabilities', '[{"id": "skill:echo"}]'::jsonb, 'limits', '{"max_concurrency": 2}'::jsonb));
SQL
	start "$@" "$agent"
}

# asked AGENT: three tasks for it, and how many of them it completes
asked() {
	sql -v agent="$1" <<'SQL'
SELECT clutch.new_id('run') AS run_id \gset
SELECT seq FROM generate_series(1, 3) AS n,
	clutch.send(clutch.envelope('task.request', 'agent:ui', ARRAY[:'agent'],
		jsonb_build_object('n', n, 'text', 'it''s "quoted" $HOME'), run_id => :'run_id')) \g /dev/null
SELECT set_config('doc.run', :'run_id', false) \g /dev/null
DO $$
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXIT WHEN (SELECT count(*) = 3 FROM clutch.tasks
				   WHERE run_id = current_setting('doc.run') AND finished_at IS NOT NULL);
		COMMIT;
		PERFORM pg_sleep(0.1);
	END LOOP;
END
$$;
SELECT count(*) FROM clutch.tasks t, clutch.result(t.task_id) AS r
WHERE t.run_id = :'run_id' AND r.status = 'completed' AND t.agent_id = :'agent' AND r.payload::text LIKE '%quoted%';
SQL
}

reference() {
	local name
	for name in worker.sh await.py; do
		program reference.md "$name"
	done
	if worker agent:doc_sh sh "$DIR/worker.sh"; then
		verdict worker.sh "$(asked agent:doc_sh)" 3
		verdict await.py "$(timeout -k 2 40 "$PYTHON" "$DIR/await.py" 2>&1 | tail -n 1)" \
			"('completed', {'question': 'Who else does this?'})"
	fi
	end_worker
}

# a server on loopback that fails first, then answers what is not JSON, and then JSON
far_away() {
	cat >"$DIR/far.py" <<'PYTHON'
import http.server, sys
answers = [(503, b""), (200, b"not JSON"), (200, b'{"sum": 3}')]
class Far(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        status, body = answers.pop(0)
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Far)
with open(sys.argv[1], "w") as file:
    print(server.server_port, file=file)
server.serve_forever()
PYTHON
	start "$PYTHON" "$DIR/far.py" "$DIR/port"
	for ((i = 0; i < 600; i++)); do
		[ ! -s "$DIR/port" ] || break
		sleep 0.1
	done
}

# As a role that is a gateway and nothing else.
gateway() {
	local i gate=clutch_doc_gateway
	program reference.md gateway.py
	far_away
	sql -v gate="$gate" -v url="http://127.0.0.1:$(cat "$DIR/port")/" <<'SQL' >"$DIR/log" 2>&1
CREATE ROLE :gate LOGIN;
SELECT clutch.grant_gateway(:'gate');
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:doc_far", "capabilities": [{"id": "skill:sum"}]}');
INSERT INTO clutch.endpoint (name, url, serves, first_pause_s) VALUES ('doc-far', :'url', 'agent:doc_far', 0);
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:doc_far}', task_id => 'doc-far',
	meta => '{"clutch": {"retry": {"initial_ms": 0}}}'));
SQL
	start env PGUSER="$gate" "$PYTHON" "$DIR/gateway.py"
	until_true "gateway.py: a call is sent until it is answered" "SELECT clutch.tick() IS NOT NULL
		AND (SELECT count(*) = 1 FROM clutch.result('doc-far') WHERE status = 'completed')"
	verdict "gateway.py: what was not JSON failed, and the rest is the result" "$(sql -c "SELECT concat_ws(' ', t.attempt, r.payload,
		(SELECT e.envelope #>> '{payload,code}' FROM clutch.events e WHERE e.task_id = t.task_id AND e.type = 'task.error'))
		FROM clutch.tasks t, clutch.result(t.task_id) AS r WHERE t.task_id = 'doc-far'")" '2 {"sum": 3} INVALID_ANSWER'
	end_worker
	sql -v gate="$gate" -c "DELETE FROM clutch.endpoint WHERE name = 'doc-far'" >/dev/null
	sql -c "SELECT clutch.unregister('agent:doc_far'), clutch.revoke_gateway('$gate')" -c "DROP ROLE $gate" >/dev/null
}

# ------------------------------------------------------------------ scaling.md

# drain GRACE: one more process
drain() { start "$PYTHON" "$DIR/drain.py" "$1"; }

# drain_ends PID: signals the process, which must then end by itself
drain_ends() {
	kill "$1"
	wait "$1"
	verdict "drain.py: exit status" $? 0
}

drain_ask() {
	sql -v task="$1" -v payload="$2" <<'SQL' >/dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:clerk}', :'payload', task_id => :'task'));
SQL
}

scaling() {
	local first
	program scaling.md drain.py
	sql -c "SELECT clutch.register('{\"v\": \"clutch/0.1\", \"agent_id\": \"agent:clerk\",
		\"capabilities\": [{\"id\": \"skill:orders\"}], \"limits\": {\"max_concurrency\": 2}}')" >/dev/null
	drain_ask drain-1 '{"order": 1, "seconds": 100}'
	drain_ask drain-2 '{"order": 2, "seconds": 100}'
	drain 0.5
	first=$WORKER
	drain 0.5
	until_true "drain.py: two processes have a task each" \
		"SELECT count(*) = 2 FROM clutch.tasks WHERE task_id LIKE 'drain-%' AND status = 'running'"
	drain_ends "$first"
	verdict "drain.py: one stops, the other goes on" \
		"$(sql -c "SELECT string_agg(status || ' ' || attempt, ', ' ORDER BY attempt) FROM clutch.tasks WHERE task_id LIKE 'drain-%'")" \
		"running 1, assigned 2"
	end_worker
	sql -c "SELECT clutch.cancel('drain-1', 'test'), clutch.cancel('drain-2', 'test')" >/dev/null
	drain_ask drain-3 '{"order": 3, "seconds": 3}'
	drain 60
	until_true "drain.py: its work" "SELECT status = 'running' FROM clutch.tasks WHERE task_id = 'drain-3'"
	end_worker
	completed drain.py drain-3 "has time to end"
}

# --------------------------------------------------------------- signatures.md

# signed NAME COMMAND...: as a role that speaks for nobody, it sends what agent:shop has signed
signed() {
	local name=$1 task
	shift
	task=signed-${name##*.}
	env PGUSER="$GATE" timeout -k 2 40 "$@" >"$DIR/log" 2>&1
	verdict "$name: what it signs is admitted" "$(sed 's/[0-9]*$//; s/|$/ /' "$DIR/log")" "admitted as "
	verdict "$name: and verified" "$(sql -c "SELECT count(*) FROM clutch.events e WHERE e.task_id = '$task' AND e.type = 'task.request'
		AND e.envelope #> '{security,auth}' IS NOT NULL AND NOT EXISTS (SELECT FROM clutch.check_signature(e.envelope, e.received_at))")" 1
}

signatures() {
	local name
	GATE=clutch_doc_gateway
	for name in sign.py sign.js sign.sh; do
		program signatures.md "$name"
	done
	openssl genpkey -algorithm ed25519 -out "$DIR/shop.pem" 2>"$DIR/log" && chmod 755 "$DIR"
	sql -v gate="$GATE" -v key="$(openssl pkey -in "$DIR/shop.pem" -pubout -outform DER | tail -c 32 | base64)" <<'SQL' >"$DIR/log" 2>&1
CREATE ROLE :gate LOGIN;
GRANT USAGE ON SCHEMA clutch TO :gate;
GRANT INSERT (envelope) ON clutch.events TO :gate;
GRANT EXECUTE ON FUNCTION clutch.send(jsonb), clutch.signing_bytes(jsonb) TO :gate;
SELECT clutch.add_key('agent:shop', 'key_01', decode(:'key', 'base64'));
SQL
	signed sign.py "$PYTHON" "$DIR/sign.py" "$DIR/shop.pem"
	signed sign.js "$NODE" "$DIR/sign.js" "$DIR/shop.pem"
	signed sign.sh sh "$DIR/sign.sh" "$DIR/shop.pem"
	env PGUSER="$GATE" timeout -k 2 40 "$PYTHON" "$DIR/sign.py" "$DIR/shop.pem" elsewhere >"$DIR/log" 2>&1
	verdict "sign.py: for another audience it is refused" "$(grep -c 'BAD_SIGNATURE' "$DIR/log")" 1
	sql -v gate="$GATE" <<'SQL' >/dev/null
DROP OWNED BY :gate;
DROP ROLE :gate;
SQL
}

# ---------------------------------------------------------------- the tutorial

# drops only what tutorial_make has created
tutorial_drop() {
	local role
	[ -n "$MADE" ] || return 0
	psql -X -q -d postgres -c "DROP DATABASE IF EXISTS $TUTORIAL WITH (FORCE)" 2>/dev/null
	for role in $ROLES; do
		psql -X -q -d postgres -c "DROP ROLE IF EXISTS $role" 2>/dev/null
	done
}

# the database, roles and agents, made by the SQL before "A task by hand"
tutorial_make() {
	[ "$(sql -c "SELECT count(*) FROM pg_roles WHERE rolname = ANY (string_to_array('$ROLES', ' '))")" = 0 ] ||
		{ echo "a role of the tutorial exists already: $ROLES"; return 1; }
	createdb "$TUTORIAL" || return 1
	MADE=yes
	awk '/^## A task by hand/ { exit }
		/^```/	{ inside = $0 == "```sql"; next }
		inside' "$TOP/docs/tutorial.md" >"$DIR/setup.sql"
	PGDATABASE=$TUTORIAL sql -f "$DIR/setup.sql" >"$DIR/log" 2>&1
}

# ask TASK CAPABILITY PAYLOAD
ask() {
	sql -v task="$1" -v capability="$2" -v payload="$3" <<'SQL' >/dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:shop', payload => :'payload',
	requires => ARRAY[:'capability'], task_id => :'task'));
SQL
}

# small NAME ROLE CAPABILITY PROGRAM...: it must complete tasks sent before it started, and after
small() {
	local name=$1 role=$2 capability=$3
	shift 3
	ask "$name-1" "$capability" '{"order": 1, "customer": "it''s \"quoted\""}'
	start env PGUSER="$role" "$@"
	completed "$name" "$name-1" "what was there"
	ask "$name-2" "$capability" '{"order": 2, "customer": "x"}'
	completed "$name" "$name-2" "what came later"
	end_worker
}

# whole NAME ROLE CAPABILITY PROGRAM...: everything that the text promises
whole() {
	local name=$1 role=$2 capability=$3
	shift 3
	start env LEASE=1 PGUSER="$role" "$@"
	ask "$name-long" "$capability" '{"order": 1, "customer": "x", "seconds": 3}'
	completed "$name" "$name-long" "work longer than its lease"
	verdict "$name: in one attempt" "$(sql -c "SELECT attempt FROM clutch.tasks WHERE task_id = '$name-long'")" 1

	ask "$name-ask" "$capability" '{"order": 2, "customer": "x", "refund": 500}'
	until_true "$name: a question" "SELECT count(*) = 1 FROM clutch.approvals WHERE task_id = '$name-ask'"
	sql -c "SELECT clutch.answer('$name-ask', '{\"approved\": true}', 'agent:shop')" >/dev/null
	until_true "$name: its answer" "SELECT count(*) = 1 FROM clutch.result('$name-ask')
		WHERE status = 'completed' AND (payload #>> '{answer,approved}')::boolean"

	ask "$name-stop" "$capability" '{"order": 3, "customer": "x", "seconds": 100}'
	until_true "$name: work that takes long" "SELECT status = 'running' FROM clutch.tasks WHERE task_id = '$name-stop'"
	end_worker
	verdict "$name: stops and releases" \
		"$(sql -c "SELECT status || ' ' || attempt FROM clutch.tasks WHERE task_id = '$name-stop'")" "assigned 2"

	start env LEASE=1 PGUSER="$role" "$@"
	until_true "$name: the next process has it" "SELECT status = 'running' FROM clutch.tasks WHERE task_id = '$name-stop'"
	sql -c "SELECT clutch.cancel('$name-stop', 'test', 'agent:shop')" >/dev/null
	said "$name" "$name-stop: cancelled"
	ask "$name-next" "$capability" '{"order": 4, "customer": "x"}'
	completed "$name" "$name-next" "after a cancel, the next task"

	sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$role'" >/dev/null
	ask "$name-again" "$capability" '{"order": 5, "customer": "x"}'
	completed "$name" "$name-again" "after a broken connection, the next task"
	end_worker

	# With a long lease, the task ends in time only if the report is sent again.  The work
	# takes long enough to be observed.
	start env LEASE=60 PGUSER="$role" "$@"
	ask "$name-broken" "$capability" '{"order": 6, "customer": "x", "seconds": 3}'
	until_true "$name: work whose connection breaks" "SELECT status = 'running' FROM clutch.tasks WHERE task_id = '$name-broken'"
	sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$role'" >/dev/null
	completed "$name" "$name-broken" "the report is sent again"
	ask "$name-late" "$capability" '{"order": 7, "customer": "x", "seconds": 3}'
	until_true "$name: work that is cancelled" "SELECT status = 'running' FROM clutch.tasks WHERE task_id = '$name-late'"
	sql -c "SELECT clutch.cancel('$name-late', 'test', 'agent:shop')" >/dev/null
	said "$name" "$name-late: late"
	end_worker
}

# undeliverable NAME ROLE CAPABILITY PLACE CODE PROGRAM: the program with this code before the line
# with its result; what cannot be delivered is not done again
undeliverable() {
	local name=$1 role=$2 capability=$3 place=$4 code=$5 n
	shift 5
	sed "s/^$place/$code\n&/" "$DIR/$name" >"$DIR/bad_$name"
	start env LEASE=1 PGUSER="$role" "$@" "$DIR/bad_$name"
	for n in 8 9 10; do
		ask "$name-bad$n" "$capability" "{\"order\": $n, \"customer\": \"x\"}"
	done
	for n in 8 9; do
		until_true "$name: a result that cannot be delivered ($n)" "SELECT status = 'failed' AND attempt = 1 FROM clutch.tasks WHERE task_id = '$name-bad$n'"
	done
	until_true "$name: an error whose text cannot be delivered" "SELECT status = 'pending' AND detail = 'ab' FROM clutch.tasks WHERE task_id = '$name-bad10'"
	end_worker
	sql -c "SELECT clutch.cancel('$name-bad10', 'test', 'agent:shop')" >/dev/null
}

# resumes NAME ROLE CAPABILITY PROGRAM...: killed after each step, it does each once
resumes() {
	local name=$1 role=$2 capability=$3 i
	shift 3
	ask "$name" "$capability" '{"order": 4713, "customer": "x"}'
	for i in 1 2 3; do
		start env DIE=yes LEASE=1 EFFECTS="$DIR/effects" PGUSER="$role" "$@"
		wait "$WORKER" 2>/dev/null
		WORKER=
	done
	verdict "$name: killed after each step" "$(sql -c "SELECT string_agg(name || attempt, ' ') FROM clutch.steps('$name')")" \
		"charge1 pack2 mail3"
	start env LEASE=1 EFFECTS="$DIR/effects" PGUSER="$role" "$@"
	completed "$name" "$name" "it finishes"
	end_worker
	verdict "$name: each step once" "$(paste -s -d, "$DIR/effects")" "charge 4713,pack 4713,mail 4713"
}

tutorial() {
	local name
	for name in small.py small.js clerk.py writer.js packer.py; do
		program tutorial.md "$name"
	done
	tutorial_make || { verdict "the tutorial's set-up" failed complete; return; }
	export PGDATABASE=$TUTORIAL
	small small.py clerk skill:orders "$PYTHON" "$DIR/small.py"
	small small.js writer skill:writing "$NODE" "$DIR/small.js"
	whole clerk.py clerk skill:orders "$PYTHON" "$DIR/clerk.py"
	whole writer.js writer skill:writing "$NODE" "$DIR/writer.js"
	undeliverable clerk.py clerk skill:orders '    return {"order"' \
		'    n = request["order"]\n    if n == 10: raise Exception("a\\0b")\n    if n in (8, 9): return {8: float("nan"), 9: "\\0"}[n]' "$PYTHON"
	undeliverable writer.js writer skill:writing '  return { text' \
		'  const n = request.order;\n  if (n === 10) throw new Error("a\\0b");\n  if (n === 8 || n === 9) return { x: n === 8 ? 1n : "\\0" };' "$NODE"
	resumes packer.py clerk skill:orders "$PYTHON" "$DIR/packer.py"
}

reference
gateway
scaling
signatures
tutorial

[ $((PASSED + FAILED)) = "$PROMISES" ] || FAILED=$((FAILED + 1))
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ]
