#!/bin/bash
# Builds everything and runs the tests.  Arguments go to ctest: ./test.sh -R search
#
#   ./test.sh ...          what needs only Debian's packages, which it installs
#   ./test.sh --all ...    also what needs other registries, schemas, PyTorch, emulators or fresh trees of Debian
#                          (CONTRIBUTING.md); what cannot run is then a failure.  As root; it takes hours.
#
# The last lines say what did not run, and why, and whether something takes more than docs/building.md says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

preset=release
sections=(build test)
all=()
if [[ ${1:-} == --all ]]; then
  shift
  preset=all
  sections+=(all arm64 package)
  all=(--all)
fi
cmake/install-packages.sh "${sections[@]}"

echo "== Configuring"
werror=OFF
[[ ${CI:-false} != true ]] || werror=ON
cmake --preset release -DDRAGOMAN_WERROR="$werror" -DBUILD_TESTING=ON
echo "== Building"
cmake --build --preset release
[[ $preset != all ]] || cmake --build --preset release --target benches
echo "== Testing"
results=$PWD/build/release/tests.xml
rm -f "$results"
code=0
# One more than there are cores, as many tests wait for time or for a server.
ctest --preset "$preset" --parallel "$(($(nproc) + 1))" --output-junit "$results" --test-output-size-passed 10000000 \
  --test-output-size-failed 10000000 "$@" || code=$?
[[ ! -f $results ]] || tests/not_run.py build/release "$results" "${all[@]}" || code=1
(($#)) || ((code)) || [[ $preset == all ]] || tests/ledger.py build/release "$results" || code=1
exit "$code"
