# shellcheck shell=bash
# What the scripts in this folder share: sourced, never run.
#
#   prepare KIND     installs what is missing (KIND: demo | bench | instructions | check);
#                    does nothing when all is there, so a second run needs no network
#   build            compiles with warnings as errors and installs the extension
#   cluster_new ...  creates a private cluster in $WORK, with a unix socket only
#   cluster_start DIR [POSTGRES], cluster_stop
#   as_server CMD    runs CMD in $WORK as the user that the server runs as
#
# The server refuses to run as root.  So if the script runs as root, everything
# about the server is done as the user postgres, in a temporary folder that is
# removed at exit.

set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PG_CONFIG=${PG_CONFIG:-}

# The PostgreSQL that this Debian carries; another one by PG_CONFIG.
case $(. /etc/os-release 2>/dev/null && echo "${ID:-}${VERSION_ID:-}") in
	debian13) PG_MAJOR=17 ;;
	debian) PG_MAJOR=18 ;;		# testing and unstable have no number
	*) PG_MAJOR=15 ;;
esac
[ ! -x "$PG_CONFIG" ] || PG_MAJOR=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
WORK=
CLUSTER=
AS_SERVER=()

say() { printf '%s\n' "$*"; }
die() { printf 'clutch: %s\n' "$*" >&2; exit 1; }

# ------------------------------------------------------------------ packages

packages() {
	if [ "$1" = clients ]; then
		echo python3-psycopg2 python3-psycopg python3-asyncpg python3-sqlalchemy libpostgresql-jdbc-java
		command -v javac >/dev/null || echo default-jdk-headless
		[ -x /usr/sbin/pgbouncer ] || apt-cache depends pgbouncer | sed -n 's/^ *Depends: \(lib[a-z0-9.-]*\)$/\1/p'
		return
	fi
	echo make gcc libc6-dev "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" \
		libsodium-dev libyaml-dev python3 python3-psycopg2
	[ "$1" != instructions ] || echo valgrind
	[ "$1" != check ] || echo "postgresql-$PG_MAJOR-pgtap" perl \
		libtap-parser-sourcehandler-pgtap-perl libipc-run-perl spin \
		python3-cryptography openssl
}

missing_packages() {
	local package
	for package in $(packages "$1"); do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			echo "$package"
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n true 2>/dev/null || [ -t 0 ] || die "needs root for: $*"
		sudo "$@"
	fi
}

# Debian's postgresql package creates and starts a cluster when it is installed.
# A temporary file in createcluster.d prevents that.
install_packages() {
	local hold=/etc/postgresql-common/createcluster.d/clutch.conf status=0
	as_root mkdir -p "${hold%/*}" &&
		echo 'create_main_cluster = off' | as_root tee "$hold" >/dev/null || return 1
	as_root apt-get -q update &&
		as_root env DEBIAN_FRONTEND=noninteractive \
			apt-get -q install -y --no-install-recommends "$@" || status=1
	as_root rm -f "$hold"
	as_root rmdir "${hold%/*}" 2>/dev/null
	return $status
}

prepare() {
	local missing log
	if command -v dpkg-query >/dev/null; then
		missing=$(missing_packages "$1" | tr '\n' ' ')
		if [ -n "$missing" ]; then
			[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
				die "missing, and neither root nor sudo to install it: $missing"
			log=$(mktemp)
			say "installing $missing"
			# shellcheck disable=SC2086
			install_packages $missing >"$log" 2>&1 </dev/null ||
				{ tail -n 30 "$log" >&2; rm -f "$log"; die "could not install $missing"; }
			rm -f "$log"
		fi
	fi
	[ "$1" != check ] || prepare_node
	find_programs
}

# node-postgres, for the programs of the documents.  Debian's package of it needs
# Debian's nodejs; if there is another nodejs, its files are unpacked into .node/.
# Without it only those programs fail, so an error here does not end the check.
prepare_node() {
	export NODE_PATH=$TOP/.node/usr/share/nodejs:/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
	! node -e 'require("pg")' 2>/dev/null || return 0
	say "installing node-postgres"
	case $(dpkg-query -W -f '${db:Status-Status} ${Version}' nodejs 2>/dev/null) in
		*dfsg* | "" | not-installed* | config-files*) install_packages nodejs node-pg ;;
		*) unpack_packages .node node-pg node-split2 node-xtend ;;
	esac >/dev/null 2>&1 </dev/null
	node -e 'require("pg")' 2>/dev/null || say "could not install node-postgres"
}

# The libraries of npm that programs of test/clients use, as its package-lock.json names
# them, in .node/.  Without them only those programs fail.
prepare_npm() {
	local lock=$TOP/test/clients/package-lock.json log
	export NODE_PATH=$TOP/.node/node_modules${NODE_PATH:+:$NODE_PATH}
	! cmp -s "$lock" "$TOP/.node/installed.json" || return 0
	say "installing libraries of npm"
	log=$(mktemp)
	{
		command -v npm || install_packages npm
		mkdir -p "$TOP/.node" && echo '*' >"$TOP/.node/.gitignore" &&
			cp "${lock%-lock.json}.json" "$lock" "$TOP/.node/" &&
			(cd "$TOP/.node" && npm ci --ignore-scripts --no-audit --no-fund) &&
			cp "$lock" "$TOP/.node/installed.json"
	} >"$log" 2>&1 </dev/null || { tail -n 5 "$log"; say "could not install libraries of npm"; }
	rm -f "$log"
}

# unpack_packages FOLDER PACKAGE...: unpacks the files of the packages below a folder
# of the checkout that git ignores; nothing is configured or started
unpack_packages() {
	local target=$TOP/$1 folder archive
	shift
	folder=$(mktemp -d) || return 1
	mkdir -p "$target" && echo '*' >"$target/.gitignore" &&
		(cd "$folder" && apt-get -q download "$@") &&
		for archive in "$folder"/*.deb; do dpkg-deb -x "$archive" "$target"; done
	rm -rf "$folder"
}

# The drivers of test/clients, a JDK unless there is one, and pgbouncer with the
# libraries that it needs.
prepare_clients() {
	local missing
	PGBOUNCER=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || PGBOUNCER=$TOP/.clients/usr/sbin/pgbouncer
	if [ ! -x "$PGBOUNCER" ]; then
		apt-cache show pgbouncer >/dev/null 2>&1 || as_root apt-get -q update >/dev/null 2>&1 </dev/null
		unpack_packages .clients pgbouncer >/dev/null 2>&1
	fi
	missing=$(missing_packages clients | tr '\n' ' ')
	if [ -n "$missing" ]; then
		say "installing $missing"
		# shellcheck disable=SC2086
		install_packages $missing >/dev/null 2>&1 </dev/null
	fi
	prepare_node
	prepare_npm
	"$PGBOUNCER" --version >/dev/null && [ -z "$(missing_packages clients)" ]
}

# The tests need Debian's own python3, because python3-psycopg2 belongs to it.
find_programs() {
	local candidate
	if [ -z "$PG_CONFIG" ]; then
		PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
		[ -x "$PG_CONFIG" ] || PG_CONFIG=$(command -v pg_config) || die "there is no pg_config"
	fi
	BINDIR=$("$PG_CONFIG" --bindir) || die "$PG_CONFIG does not run"
	PGXS_DIR=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
	PYTHON=
	for candidate in /usr/bin/python3 python3; do
		if "$candidate" -c 'import psycopg2' 2>/dev/null; then
			PYTHON=$candidate
			break
		fi
	done
	[ -n "$PYTHON" ] || die "no python3 with psycopg2"
	export PG_CONFIG BINDIR PGXS_DIR PYTHON PYTHONDONTWRITEBYTECODE=1
	PATH=$BINDIR:$PATH
}

# --------------------------------------------------------------------- build

build() {
	unset MAKEFLAGS MFLAGS MAKELEVEL	# of the make that started us
	make -C "$TOP" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" all || return 1
	if [ -w "$("$PG_CONFIG" --pkglibdir)" ]; then
		make -C "$TOP" PG_CONFIG="$PG_CONFIG" install
	else
		as_root make -C "$TOP" PG_CONFIG="$PG_CONFIG" install
	fi
}

# ------------------------------------------------------------------- cluster

as_server() { "${AS_SERVER[@]}" "$@"; }

# Everything happens in this folder.  The server's user owns it, and its path is
# short enough for a unix socket.
work_in() {
	WORK=$1
	AS_SERVER=(env -C "$WORK" HOME="$WORK")
	if [ "$(id -u)" = 0 ]; then
		chown postgres: "$WORK"
		AS_SERVER=(setpriv --reuid=postgres --regid=postgres --init-groups "${AS_SERVER[@]}")
	fi
}

work_new() {
	local folder
	folder=$(mktemp -d "/tmp/$1.XXXXXX") || die "cannot make a folder in /tmp"
	work_in "$folder"
}

# PGHOST and the rest are exported, so that every libpq program finds the cluster.
# cluster_start DIR [POSTGRES]: POSTGRES is a program to run in place of postgres.
cluster_start() {
	CLUSTER=$1
	as_server pg_ctl -D "$CLUSTER/data" -l "$CLUSTER/server.log" -w -t 60 -s ${2:+-p "$2"} start \
		-o "-k '$CLUSTER' -h ''" || { tail -n 20 "$CLUSTER/server.log" >&2; return 1; }
	unset PGSERVICE PGSERVICEFILE PGPASSWORD PGOPTIONS PGHOSTADDR PGSSLMODE
	export PGHOST=$CLUSTER PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# Settings without durability, for clusters that are thrown away.
NOT_DURABLE=("fsync = off" "full_page_writes = off")

# cluster_new SETTING...: lines of postgresql.conf
cluster_new() {
	as_server initdb -D "$WORK/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N \
		>"$WORK/initdb.log" || { tail -n 20 "$WORK/initdb.log" >&2; return 1; }
	printf '%s\n' "listen_addresses = ''" "max_connections = 120" "timezone = 'UTC'" \
		"log_timezone = 'UTC'" "client_connection_check_interval = 1s" "$@" | as_server tee -a "$WORK/data/postgresql.conf" >/dev/null
	cluster_start "$WORK"
}

cluster_stop() {
	[ -n "$CLUSTER" ] || return 0
	[ ! -f "$CLUSTER/data/postmaster.pid" ] ||
		as_server pg_ctl -D "$CLUSTER/data" -m "${1:-fast}" -w -t 60 -s stop
	CLUSTER=
}

# ------------------------------------------------------------------ children

# Runs a program (not a function) in the background and waits for it, so that traps
# run at once and can end it.  timeout(1) ends its children as well.
CHILD=
run_child() {
	local status
	"$@" &
	CHILD=$!
	wait "$CHILD"
	status=$?
	CHILD=
	return $status
}

end_child() {
	[ -z "$CHILD" ] || { kill -TERM "$CHILD" 2>/dev/null; wait "$CHILD" 2>/dev/null; }
	CHILD=
}
