#!/bin/bash
# Makes a tree of Debian for 64-bit ARM, which the preset arm64 compiles and links against:
#
#   cmake/install-packages.sh arm64                  # a cross compiler, an emulator, and mmdebstrap
#   cmake/arm64-sysroot.sh                           # build/arm64-sysroot
#   cmake --preset arm64 && cmake --build --preset arm64
#
# The tree has the libraries of debian-packages.txt with all that they depend on, from the same release of
# Debian as this machine, unpacked and not installed: nothing in it is run, so it needs no emulator.  (Debian's
# multiarch cannot hold all of these packages for two architectures.)  The compiler, protoc and its plugins are
# this machine's.  It takes half a minute, and 1 GB of disk.
#
#   cmake/arm64-sysroot.sh DIRECTORY                 # another place: cmake --preset arm64 -DDRAGOMAN_SYSROOT=...
#   DRAGOMAN_MIRROR=http://... cmake/arm64-sysroot.sh     # another mirror of Debian
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sysroot=${1:-$source/build/arm64-sysroot}
mirror=${DRAGOMAN_MIRROR:-http://deb.debian.org/debian}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

[[ ! -e $sysroot ]] || {
  echo "arm64-sysroot.sh: $sysroot exists already" >&2
  exit 1
}
mkdir -p "$(dirname "$sysroot")"

# The libraries: what is for building and testing, without programs.  libgomp1 and libstdc++6 are those of
# the programs that are built; a native compiler would depend on them.
packages=(libgomp1 libstdc++6 $(awk '($1 == "build" || $1 == "test") && $2 ~ /-dev$/ { print $2 }' \
  "$source/cmake/debian-packages.txt"))

# What a program depends on by using a library, as the packages say: name, version, package.
shlibs='for deb in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --info "$deb" shlibs 2>/dev/null || true
done | grep -v "^#" | sort -u >"$1/shlibs"'

# Complete or not there at all.
part=$sysroot.part
rm -rf "$part"
mmdebstrap --variant=extract --architectures=arm64 --skip=download/empty --extract-hook="$shlibs" \
  --include="$(IFS=,; echo "${packages[*]}")" "$release" "$part" "$mirror"
# Links like /lib/aarch64-linux-gnu/libz.so.1 would point out of the tree, and a static library take their place.
find "$part/usr/lib" -lname '/*' | while read -r link; do
  ln --symbolic --force --relative "$part$(readlink "$link")" "$link"
done
mv "$part" "$sysroot"
echo "$sysroot: ${#packages[@]} packages and what they depend on, $(du -sh "$sysroot" | cut -f 1)"
