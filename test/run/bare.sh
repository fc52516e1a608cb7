#!/usr/bin/env bash
# Tests the README on a bare Debian: debootstrap makes a minimal tree, this
# checkout (as git sees it, including new files) is copied into it, and these run
# there:
#
#     apt-get install make;  make demo;  make demo;  make check
#
# Needs root, debootstrap and a Debian mirror.  Run by hand; not by make check.
#
#   test/run/bare.sh            everything
#   BARE_RUN="make demo" test/run/bare.sh
#   BARE_SUITE=trixie           another Debian than bookworm (12, PostgreSQL 15):
#                               trixie (13, 17), sid (18)
#   BARE_BASE=base.tar          keeps the minimal tree in that file, and uses it
#                               when it is there
#
# The tree has its own mounts and processes (namespaces), so however this ends,
# nothing remains mounted and nothing continues to run.

. "$(dirname "$0")/lib.sh"

RUN=${BARE_RUN:-make demo && make demo && make check}
SUITE=${BARE_SUITE:-bookworm}
BASE=${BARE_BASE:-}
ROOT=

finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	end_child
	[ -z "$ROOT" ] || rm -rf --one-file-system "$ROOT"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The mirror that this machine uses, read from either of apt's formats.
mirror() {
	local found
	found=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\).*/\2/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		grep -m 1 '/debian/*$')
	echo "${found:-http://deb.debian.org/debian}"
}

[ "$(id -u)" = 0 ] || die "bare.sh needs root"
command -v debootstrap >/dev/null || die "debootstrap is not installed"

ROOT=$(mktemp -d /tmp/clutch-bare.XXXXXX)
chmod 755 "$ROOT"
if [ -n "$BASE" ] && [ -s "$BASE" ]; then
	say "== the minimal tree of $BASE"
	tar -C "$ROOT" -xf "$BASE" || die "cannot unpack $BASE"
else
	say "== debootstrap $SUITE from $(mirror)"
	run_child debootstrap --variant=minbase "$SUITE" "$ROOT" "$(mirror)" >"$ROOT.log" 2>&1 ||
		{ tail -n 20 "$ROOT.log" >&2; rm -f "$ROOT.log"; die "debootstrap failed"; }
	rm -f "$ROOT.log"
	[ -z "$BASE" ] || tar -C "$ROOT" --one-file-system -cf "$BASE" .
fi
cp /etc/resolv.conf "$ROOT/etc/resolv.conf" 2>/dev/null
# npm trusts the certificates that this machine trusts, such as a proxy's
cp /etc/ssl/certs/ca-certificates.crt "$ROOT/root/authorities.crt" 2>/dev/null

mkdir -p "$ROOT/root/clutch"
(cd "$TOP" && git ls-files -z --cached --others --exclude-standard |
	tar --null --ignore-failed-read -T - -cf -) | tar -C "$ROOT/root/clutch" --no-same-owner -xf -

cat >"$ROOT/root/inside" <<'INSIDE'
set -e
mount -t proc proc /proc
mount -t tmpfs tmpfs /dev/shm
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
# a bare machine has no locale
unset LANG LANGUAGE ${!LC_@}
[ ! -e /root/authorities.crt ] || export NODE_EXTRA_CA_CERTS=/root/authorities.crt
cd /root/clutch
# a mirror may be a copy that is kept
echo 'Acquire::Check-Valid-Until "false";' >/etc/apt/apt.conf.d/99clutch
dpkg -l | grep -c '^ii' | sed 's/$/ packages on the bare machine/'
apt-get -q update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get -q install -y make >/dev/null
bash -c "$1" || { echo "failed: $1"; exit 1; }
left=$(for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null; echo; done |
	grep -v -e '^$' -e '^/bin/bash /root/inside' -e '^tr ' -e '^grep ' || true)
[ -z "$left" ] || { echo "left running: $left"; exit 1; }
! ls -d /var/lib/postgresql/*/main 2>/dev/null || { echo "a system cluster was made"; exit 1; }
echo "no process and no system cluster is left"
INSIDE

# The machine's /dev is bound, because the devices of a new one would have to be made.
say "== $RUN"
# shellcheck disable=SC2016
run_child timeout -k 10 3000 unshare --mount --pid --fork --kill-child bash -c '
	mount --make-rprivate / && mount --rbind /dev "$1/dev" &&
	exec chroot "$1" /bin/bash /root/inside "$2"' bare "$ROOT" "$RUN"
