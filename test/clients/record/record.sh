#!/usr/bin/env bash
# Records what real libraries say, into test/fixtures/adapters/recorded/.
#
#   record.sh [NAME...]     a2a | cards | http | langgraph | map | mcp | autogen | crewai
#
# Without a name: all but the last two.  The libraries and their versions are those of package-lock.json; npm installs them into
# a temporary folder, or into RECORD_FOLDER, which is kept.  A recording is the same in every
# run: what git shows as changed afterwards is what another version of a library does.
#
# AutoGen and crewAI are libraries of Python: PYTHON is one with pydantic 2 (python3), and
# RECORD_PATH names the folders, parted by colons, in which their packages are, if they are
# not installed (pip install autogen-agentchat==0.7.5 crewai==1.15.17).

set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
RECORDED=$HERE/../../fixtures/adapters/recorded
NAMES=("$@")
[ $# != 0 ] || NAMES=(a2a cards http langgraph map mcp)
FOLDER=${RECORD_FOLDER:-$(mktemp -d /tmp/clutch-record.XXXXXX)}
[ -n "${RECORD_FOLDER:-}" ] || trap 'rm -rf "$FOLDER"' EXIT

mkdir -p "$FOLDER" "$RECORDED"
cp "$HERE"/package*.json "$HERE"/*.mjs "$HERE"/*.py "$FOLDER"
cd "$FOLDER"
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund
for name in "${NAMES[@]}"; do
	case $name in
		autogen | crewai)
			IFS=: read -r -a path <<<"${RECORD_PATH:-}"
			"${PYTHON:-python3}" -B "$name.py" "${path[@]}" | node recorder.mjs >"$name.ndjson"
			;;
		*) node "$name.mjs" >"$name.ndjson" ;;
	esac
	mv "$name.ndjson" "$RECORDED/"
	printf '%s: %s documents\n' "$name" "$(wc -l <"$RECORDED/$name.ndjson")"
done
