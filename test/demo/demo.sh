#!/usr/bin/env bash
# From a bare Debian 12 to a played example (make demo).
#
# Two research agents and a client, three programs, on a private cluster: the
# example of spec 10 with a rejection, a failure and a death on the way
# (client.py tells the story).  It ends by itself and leaves no process, only
# the data folder, which .demo/data names; `make demo-psql` opens it.

. "$(dirname "$0")/../run/lib.sh"

DEMO=$TOP/test/demo
KEPT=$TOP/.demo
AGENTS=()
KEEP=

finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	end_child
	end_agents
	if [ -n "$WORK" ]; then
		cluster_stop fast
		[ -n "$KEEP" ] || rm -rf "$WORK"
	fi
	exit $status
}

end_agents() {
	local pid
	for pid in "${AGENTS[@]}"; do
		kill "$pid" 2>/dev/null
		while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
	done
}

# Removes what an earlier demonstration left, after checking its name.
forget() {
	local old
	old=$(cat "$KEPT/data" 2>/dev/null)
	case "$old" in
		/tmp/clutch-demo.*/*) ;;
		/tmp/clutch-demo.*) [ ! -O "$old/client.log" ] || rm -rf "$old" ;;
	esac
	rm -rf "$KEPT"
}

keep() {
	mkdir -p "$KEPT" && echo '*' >"$KEPT/.gitignore" && echo "$WORK" >"$KEPT/data" && KEEP=yes
}

agent() {
	"$PYTHON" "$DEMO/agent.py" "$DEMO/$1.json" "$TOP" "$WORK/scratch" >"$WORK/$1.log" 2>&1 &
	AGENTS+=($!)
	PIDS+=("$1=$!")
	disown			# so that the shell does not report that one was killed
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

prepare demo
forget
work_new clutch-demo
mkdir "$WORK/scratch"
build >"$WORK/build.log" 2>&1 || { tail -n 40 "$WORK/build.log" >&2; die "does not build"; }
cluster_new "${NOT_DURABLE[@]}" || die "the private cluster does not start"
createdb clutch && psql -X -q -d clutch -c 'CREATE EXTENSION clutch' || die "no extension"
export PGDATABASE=clutch

PIDS=()
agent ken
agent lois
if ! run_child timeout -k 5 55 "$PYTHON" "$DEMO/client.py" "$DEMO/desk.json" "$TOP" \
	"$WORK/scratch" "${PIDS[@]}" >"$WORK/screen" 2>"$WORK/client.log"; then
	tail -n 20 "$WORK"/{ken,lois,client,server}.log >&2
	die "the demonstration did not finish"
fi
cat "$WORK/screen"
psql -X -q -f "$DEMO/dialects.sql" || die "the scene of the dialects failed"
keep
say
say "psql on this database:  make demo-psql"
