#!/bin/bash
# Builds everything and runs the whole test suite.  Arguments go to ctest: ./test.sh -R beam
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cmake/install-packages.sh build test

echo "== Configuring"
cmake --preset release -DDRAGOMAN_WERROR=ON -DBUILD_TESTING=ON
echo "== Building"
cmake --build --preset release
echo "== Testing"
ctest --preset release --parallel "$(nproc)" "$@"
