#!/bin/bash
# Installs the Debian package in a fresh tree, serves from it, upgrades it, and removes it without a trace.
#
#   cpack --preset release
#   tests/deploy/package_test.sh build/release/dragoman_*.deb   as root, with debootstrap, lintian and systemd-nspawn
#
# The tree is of the release that the package is for.  Its packages come from DRAGOMAN_DEBIAN_MIRROR;
# DRAGOMAN_DEBIAN_TREES may name a folder with fresh trees (bookworm, trixie) to copy.  The tree is also booted, so
# that the process of the systemd unit is tested; where it does not boot, the exit code is 77 if all else is well.
set -euo pipefail

fail() {
  echo "FAILED: $1" >&2
  [[ ! -s ${work:-}/log ]] || tail -n 30 "$work/log" >&2
  exit 1
}

((EUID == 0)) || fail "only root can make a tree"
package=$(ls -t "$@" | head -n 1)
mirror=${DRAGOMAN_DEBIAN_MIRROR:-http://deb.debian.org/debian}
case $package in
  *~deb12_*) release=bookworm ;;
  *~deb13_*) release=trixie ;;
  *) fail "no known release of Debian in the name $package" ;;
esac

lintian --allow-root --fail-on error,warning "$package" || fail "lintian complains"

# Runs in its own mount namespace, so that nothing stays mounted whatever happens.
if [[ ${DRAGOMAN_PACKAGE_TEST_INSIDE:-} != 1 ]]; then
  exec env DRAGOMAN_PACKAGE_TEST_INSIDE=1 unshare --mount --propagation private "$0" "$package"
fi
work=$(mktemp -d)
tree=$work/$release
server=
not_booted=
clean() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z ${machine:-} ]] || kill "$machine" 2>/dev/null || true
  umount --recursive "$tree"/{proc,dev,sys} 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT

inside() { chroot "$tree" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { inside apt-get --quiet --assume-yes --no-install-recommends "$@" >"$work/log" 2>&1 || fail "apt-get $*"; }
traces() { find "$tree"/{etc,usr,var/lib} -iname '*dragoman*' ! -path '*/apt/lists/*' | sed "s|^$tree||"; }

echo "== $release: making the tree"
if [[ -n ${DRAGOMAN_DEBIAN_TREES:-} ]]; then
  cp --archive "$DRAGOMAN_DEBIAN_TREES/$release" "$tree"
else
  debootstrap --variant=minbase "$release" "$tree" "$mirror" >"$work/log" 2>&1 || fail "debootstrap"
fi
mount -t proc proc "$tree/proc"
mount --rbind /sys "$tree/sys"
mount --rbind /dev "$tree/dev"
cp /etc/resolv.conf "$tree/etc/resolv.conf"

echo "== Installing $(basename "$package")"
cp "$package" "$tree/root/dragoman.deb"
apt update
apt install /root/dragoman.deb
[[ $(inside dragoman-server --version) == *[0-9].[0-9]* ]] || fail "the server does not say its version"
inside getent passwd dragoman >"$work/log" || fail "there is no user dragoman"
[[ $(stat --format %U "$tree/var/lib/dragoman") == root ]] || fail "/var/lib/dragoman is not root's"
grep -q 'Apache' "$tree/usr/share/doc/dragoman/copyright" || fail "there is no licence"
version=$(dpkg-deb --field "$package" Version)
zcat "$tree/usr/share/doc/dragoman/changelog.Debian.gz" | grep -qF "dragoman ($version) " || fail "there is no change of $version"
for page in man1/dragoman.1.gz man8/dragoman-server.8.gz; do
  zcat "$tree/usr/share/man/$page" | grep -q '^\.SH OPTIONS' || fail "$page has no options"
done

echo "== Completing"
complete() {
  inside bash -c "source /usr/share/bash-completion/completions/dragoman
    COMP_WORDS=($1) COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); _dragoman \"\${COMP_WORDS[0]}\" 2>/dev/null; echo \"\${COMPREPLY[*]}\""
}
[[ $(complete "dragoman tr") == "translate translate-file" ]] || fail "dragoman tr is completed to $(complete "dragoman tr")"
[[ $(complete "dragoman translate --num-h") == --num-hypotheses ]] || fail "--num-h is not completed"
[[ $(complete "dragoman-server --kv-cache-b") == --kv-cache-bytes ]] || fail "--kv-cache-b is not completed"
cmp "$tree/usr/share/bash-completion/completions/dragoman" <(inside dragoman completion bash) ||
  fail "dragoman completion prints another script"

# translation NAME: prints a translation by the installed command; retries for a minute.
translation() {
  local answer
  for _ in {1..600}; do
    answer=$(inside dragoman translate --server "$1" "Good morning." 2>/dev/null) && break
    sleep 0.1
  done
  echo "$answer"
}

echo "== Serving as its user"
chroot --userspec=dragoman:dragoman "$tree" /usr/bin/dragoman-server --config /etc/dragoman/server.txtpb \
  --grpc-address 127.0.0.1:0 --http-address 127.0.0.1:0 >"$work/log" 2>&1 &
server=$!
until [[ $(<"$work/log") =~ listening\ grpc=([^ ]+)\ http=([^ $'\n']+) ]]; do
  kill -0 "$server" 2>/dev/null || fail "the server ended"
  sleep 0.1
done
grpc=${BASH_REMATCH[1]} http=${BASH_REMATCH[2]}
answer=$(translation "$grpc")
[[ $answer == "Guten Morgen." ]] || fail "it answers: $answer"
answer=$(curl --silent --noproxy '*' "http://$http/translate" -d q='Good morning.' -d source=en -d target=de)
[[ $answer == *'"Guten Morgen."'* ]] || fail "over HTTP it answers: $answer"
[[ $(curl --silent --noproxy '*' "http://$http/") == *'<html'* ]] || fail "there is no page"
kill -TERM "$server"
wait "$server" || fail "the server does not end well"
server=

echo "== The unit"
apt install systemd
inside systemd-analyze verify --man=no dragoman.service dragoman-grpc.socket dragoman-http.socket >"$work/log" 2>&1 || fail "systemd-analyze verify"
grep -q 'dragoman' "$work/log" && fail "systemd-analyze verify complains"
exposure=$(inside systemd-analyze security --no-pager --offline=yes --threshold=20 dragoman.service) ||
  fail "systemd-analyze security: $(tail -n 1 <<<"$exposure")"
tail -n 1 <<<"$exposure"
inside systemctl is-enabled dragoman.service >"$work/log" || fail "the unit is not enabled"

command -v systemd-nspawn >/dev/null || fail "systemd-nspawn is not installed"
echo "== Booting"
umount --recursive --lazy "$tree"/{proc,dev,sys}
# With its own network, because the unit uses the default ports.
systemd-nspawn --quiet --directory "$tree" --register=no --keep-unit --private-network --boot \
  >"$work/boot" 2>&1 </dev/null &
machine=$!
init=
for _ in {1..300}; do
  init=$(pgrep --parent "$machine" | head -n 1) && [[ -n $init ]] && break
  sleep 0.1
done
answer=
for _ in {1..300}; do
  kill -0 "$machine" 2>/dev/null || break
  answer=$(nsenter --target "$init" --all dragoman translate --deadline 5 "Good morning." 2>"$work/log") && break
  sleep 0.2
done
if [[ -z $answer ]] && ! kill -0 "$machine" 2>/dev/null; then
  not_booted="the tree does not boot here: $(tail -n 1 "$work/boot")"
  echo "$not_booted"
else
  [[ $answer == "Guten Morgen." ]] || {
    nsenter --target "$init" --all systemctl --no-pager --full status dragoman.service >"$work/log" 2>&1
    fail "the unit's server answers: $answer"
  }
  nsenter --target "$init" --all sh -c '
    pid=$(systemctl show --property MainPID --value dragoman.service)
    grep -H -E "^(Uid|NoNewPrivs|Seccomp|CapEff):" /proc/$pid/status
    systemctl reload dragoman.service
    kill -USR1 $pid
    echo "After a reload and a signal: $(systemctl is-active dragoman.service)"
    systemctl stop dragoman.service
    systemctl show --property Result --property ExecMainStatus dragoman.service' | tee "$work/log"
  grep -q 'signal: active' "$work/log" || fail "the unit does not survive a reload or a signal"
  grep -q '^Result=success' "$work/log" || fail "the unit does not stop well"
  answer=$(nsenter --target "$init" --all sh -c '
    systemctl start dragoman-grpc.socket dragoman-http.socket
    systemctl is-active dragoman.service
    dragoman translate --deadline 60 "Good morning."' 2>"$work/log") || fail "the sockets do not start the server"
  [[ $answer == "inactive"$'\n'"Guten Morgen." ]] || fail "the server that a connection starts answers: $answer"
  kill -RTMIN+4 "$init" # power off
fi
wait "$machine" || true
machine=
mount -t proc proc "$tree/proc"

echo "== Upgrading, with settings of one's own"
echo '# mine' >>"$tree/etc/dragoman/server.txtpb"
touch "$tree/var/lib/dragoman/a-model"
dpkg-deb --raw-extract "$package" "$work/next"
sed -i 's/^Version: .*/Version: 999.0/' "$work/next/DEBIAN/control"
echo '# what a new version says' >>"$work/next/etc/dragoman/server.txtpb"
dpkg-deb --root-owner-group --build "$work/next" "$tree/root/next.deb" >/dev/null
apt install -o Dpkg::Options::=--force-confold /root/next.deb
[[ $(tail -n 1 "$tree/etc/dragoman/server.txtpb") == '# mine' ]] || fail "the upgrade took the settings"
[[ -f $tree/etc/dragoman/server.txtpb.dpkg-dist ]] || fail "the new settings are not beside them"

echo "== Removing and purging"
apt remove dragoman
[[ ! -e $tree/usr/bin/dragoman-server ]] || fail "remove leaves the server"
[[ -f $tree/etc/dragoman/server.txtpb ]] || fail "remove takes the settings"
apt purge dragoman
[[ -f $tree/var/lib/dragoman/a-model ]] || fail "purge took a model that was not its own"
[[ $(traces) == /var/lib/dragoman ]] || fail "purge leaves: $(traces)"
apt install /root/dragoman.deb
rm "$tree/var/lib/dragoman/a-model"
apt purge dragoman
[[ -z $(traces) ]] || fail "purge leaves: $(traces)"
! inside getent passwd dragoman || fail "purge leaves the user"
if [[ -n $not_booted ]]; then
  echo "skipped: $not_booted"
  exit 77
fi
echo "== $release: passed"
