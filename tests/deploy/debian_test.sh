#!/bin/bash
# Runs ./run.sh and ./test.sh in fresh trees of Debian 12 and 13, which have only a minimal system and the
# committed files of this repository.
#
#   tests/deploy/debian_test.sh [bookworm|trixie]...      as root, with debootstrap
#
# Packages come from DRAGOMAN_DEBIAN_MIRROR; the trees are made in TMPDIR (10 GB each).
# DRAGOMAN_DEBIAN_CCACHE names a cache folder for ccache, which saves time from the second run on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

((EUID == 0)) || {
  echo "debian_test.sh: only root can make a tree" >&2
  exit 1
}
releases=("$@")
((${#releases[@]})) || releases=(bookworm trixie)
mirror=${DRAGOMAN_DEBIAN_MIRROR:-http://deb.debian.org/debian}

# Runs in its own mount namespace, so that nothing stays mounted whatever happens.
if [[ ${DRAGOMAN_DEBIAN_TEST_INSIDE:-} != 1 ]]; then
  exec env DRAGOMAN_DEBIAN_TEST_INSIDE=1 unshare --mount --propagation private "$PWD/tests/deploy/debian_test.sh" \
    "${releases[@]}"
fi
work=$(mktemp -d)
clean() {
  # Lazily, because a leftover process may use them; a cache that is still mounted must not be deleted.
  umount --recursive --lazy "$work"/*/{proc,dev,sys,ccache} 2>/dev/null || true
  local cache
  for cache in "$work"/*/ccache; do
    if mountpoint --quiet "$cache"; then return; fi
  done
  rm -rf --one-file-system "$work"
}
trap clean EXIT

for release in "${releases[@]}"; do
  tree=$work/$release
  echo "== $release: making the tree"
  debootstrap --variant=minbase "$release" "$tree" "$mirror" >"$work/log" 2>&1 || {
    tail "$work/log"
    exit 1
  }
  mount -t proc proc "$tree/proc"
  mount --rbind /sys "$tree/sys"
  mount --rbind /dev "$tree/dev"
  cp /etc/resolv.conf "$tree/etc/resolv.conf"
  # As the installer and container engines write it; debootstrap leaves it out.
  printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$tree/etc/hosts"
  mkdir "$tree/src"
  git archive HEAD | tar --extract --directory "$tree/src"
  launcher=()
  if [[ -n ${DRAGOMAN_DEBIAN_CCACHE:-} ]]; then
    mkdir "$tree/ccache"
    mount --bind "$DRAGOMAN_DEBIAN_CCACHE" "$tree/ccache"
    chroot "$tree" bash -c "apt-get -q update && apt-get -qy install --no-install-recommends ccache" >"$work/log" 2>&1
    launcher=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/ccache CCACHE_BASEDIR=/src CCACHE_NOHASHDIR=1)
  fi
  for command in "./run.sh --demo" ./test.sh; do
    echo "== $release: $command"
    chroot "$tree" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      "${launcher[@]}" \
      bash -c "cd /src && $command"
  done
  echo "== $release: passed"
done
