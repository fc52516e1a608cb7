#!/usr/bin/env bash
# Runs the programs of docs/reference.md against a database that has the
# extension, named by the PG* environment; starts no server.
#
# A worker in Python, one in shell, each must complete what is asked of it; the
# client must wait for its result.  One line per program; the last line is
# "N passed, N failed", the exit status is 0 if nothing failed.

set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PYTHON=${PYTHON:-/usr/bin/python3}
DIR=$(mktemp -d)
WORKER=
PASSED=0
FAILED=0
trap 'end_worker; rm -rf "$DIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# program NAME: the block whose comment begins with that name
program() {
	awk -v name="$1" '
		/^```/	{ if (inside && found) exit; inside = !inside; text = ""; found = 0; next }
		inside	{ text = text $0 "\n" }
		inside && index($0, "# " name ":") == 1	{ found = 1 }
		found	{ kept = text }
		END		{ printf "%s", kept }' "$TOP/docs/reference.md" >"$DIR/$1"
	[ -s "$DIR/$1" ]
}

# worker AGENT COMMAND...: registers the agent, and runs the program for it
worker() {
	local agent=$1
	shift
	sql -v agent="$agent" <<'SQL' >/dev/null || return 1
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', :'agent',
	'capabilities', '[{"id": "skill:echo"}]'::jsonb, 'limits', '{"max_concurrency": 2}'::jsonb));
SQL
	timeout -k 2 60 "$@" "$agent" >"$DIR/log" 2>&1 &
	WORKER=$!
}

end_worker() {
	[ -n "$WORKER" ] || return 0
	kill "$WORKER" 2>/dev/null
	wait "$WORKER" 2>/dev/null
	WORKER=
}

# asked AGENT: three tasks for it, one of them from before, and their end
asked() {
	sql -v agent="$1" <<'SQL'
SELECT clutch.new_id('run') AS run_id \gset
SELECT seq FROM generate_series(1, 3) AS n,
	clutch.send(clutch.envelope('task.request', 'agent:ui', ARRAY[:'agent'],
		jsonb_build_object('n', n, 'text', 'it''s "quoted" $HOME'), run_id => :'run_id')) \g /dev/null
SELECT set_config('doc.run', :'run_id', false) \g /dev/null
DO $$
BEGIN
	FOR i IN 1 .. 300 LOOP
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

for name in worker.py worker.sh await.py; do
	program "$name" || { echo "docs/reference.md has no $name"; exit 1; }
done

if worker agent:doc_py "$PYTHON" "$DIR/worker.py"; then
	verdict worker.py "$(asked agent:doc_py)" 3
	verdict await.py "$(timeout -k 2 40 "$PYTHON" "$DIR/await.py" 2>&1 | tail -n 1)" \
		"('completed', {'asked': {'question': 'Who else does this?'}, 'answer': 'done'})"
fi
end_worker
if worker agent:doc_sh sh "$DIR/worker.sh"; then
	verdict worker.sh "$(asked agent:doc_sh)" 3
fi
end_worker

echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" = 3 ]
