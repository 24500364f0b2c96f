#!/bin/bash
# Cross-compiles for 64-bit ARM and runs the tests that the preset arm64 emulates.
#
#   cmake/install-packages.sh build test arm64 && cmake/arm64-sysroot.sh      # once
#   tests/deploy/arm64_test.sh [ARGUMENTS FOR CTEST]
#
# Without the tree of cmake/arm64-sysroot.sh or the tools, the exit code is 77: skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() {
  echo "skipped: $1"
  exit 77
}

[[ -d build/arm64-sysroot ]] || skip "there is no build/arm64-sysroot; cmake/arm64-sysroot.sh makes it"
command -v aarch64-linux-gnu-g++ >/dev/null || skip "there is no cross compiler; cmake/install-packages.sh arm64"
command -v qemu-aarch64-static >/dev/null || skip "there is no emulator; cmake/install-packages.sh arm64"

cmake --preset arm64 -DBUILD_TESTING=ON
cmake --build --preset arm64 --target emulated_programs
ctest --preset arm64 --parallel "$(nproc)" "$@"
