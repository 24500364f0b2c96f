#!/bin/bash
# Cross-compiles for 64-bit ARM, runs the tests that the preset arm64 emulates, and makes the Debian package.
#
#   cmake/install-packages.sh build test arm64      # once
#   tests/deploy/arm64_test.sh [ARGUMENTS FOR CTEST]
#
# It makes the tree of cmake/arm64-sysroot.sh if there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[[ -d build/arm64-sysroot ]] || cmake/arm64-sysroot.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --preset arm64 -DBUILD_TESTING=ON
cmake --build --preset arm64 --target emulated_programs package_files
ctest --preset arm64 --parallel "$(nproc)" "$@"

cpack --preset arm64 -B "$work"
package=$(ls "$work"/dragoman_*_arm64.deb)
dpkg-deb --extract "$package" "$work/tree"
depends=$(dpkg-deb --field "$package" Depends)
[[ $(dpkg-deb --field "$package" Architecture) == arm64 && $depends == *"libc6 (>= "*"libdnnl"* ]]
for program in dragoman dragoman-server; do
  QEMU_CPU=cortex-a72 qemu-aarch64-static -L build/arm64-sysroot "$work/tree/usr/bin/$program" --version
done
