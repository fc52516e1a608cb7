#!/usr/bin/env bash
# Opens psql on the database that the last `make demo` left (make demo-psql):
# starts that cluster, and stops it when psql ends.

. "$(dirname "$0")/../run/lib.sh"

finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	cluster_stop fast
	exit $status
}
trap finish EXIT
trap : INT				# left to psql, where it cancels a query
trap 'exit 143' TERM HUP

folder=$(cat "$TOP/.demo/data" 2>/dev/null)
[ -d "$folder/data" ] || die "there is no demonstration: run make demo first"
find_programs
work_in "$folder"
cluster_start "$folder" || die "the cluster does not start"
psql -X -d clutch "$@"
