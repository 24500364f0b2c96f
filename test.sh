#!/bin/bash
# Builds everything and runs the whole test suite.  Arguments go to ctest: ./test.sh -R search
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cmake/install-packages.sh build test

echo "== Configuring"
werror=OFF
[[ ${CI:-false} != true ]] || werror=ON
cmake --preset release -DDRAGOMAN_WERROR="$werror" -DBUILD_TESTING=ON
echo "== Building"
cmake --build --preset release
echo "== Testing"
ctest --preset release --parallel "$(nproc)" "$@"
