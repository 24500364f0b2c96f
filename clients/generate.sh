#!/bin/bash
# Generates the stubs, types and service configs of the clients, and Python's client.py from aio.py.
#
#   clients/generate.sh             after a change of proto/, deploy/service_config.json or aio.py
#   clients/generate.sh --check     only reports whether something is out of date
#
# Python's part needs protobuf-compiler and protobuf-compiler-grpc.  Go's needs protoc-gen-go and
# protoc-gen-go-grpc, and Node's types what `npm ci` in clients/node installs.  Parts without their tools are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
proto=../proto
api=dragoman/v1/translation.proto

# generate DIRECTORY: writes all files to it, with the layout of clients/.
generate() {
  local out=$1
  mkdir -p "$out"/{python,node/proto/dragoman/v1,node/proto/google/rpc,go}
  protoc -I "$proto" --python_out="$out/python" --pyi_out="$out/python" --grpc_out="$out/python" \
    --plugin=protoc-gen-grpc="$(command -v grpc_python_plugin)" "$api"
  protoc -I "$proto" --descriptor_set_out="$out/python/dragoman/error_details.binpb" \
    --include_imports google/rpc/error_details.proto
  cp ../deploy/service_config.json "$out/python/dragoman/"
  python3 python/unasync.py <python/dragoman/aio.py >"$out/client.py"
  mv "$out/client.py" "$out/python/dragoman/"

  cp "$proto/$api" "$out/node/proto/dragoman/v1/"
  cp "$proto/google/rpc/error_details.proto" "$out/node/proto/google/rpc/"
  cp ../deploy/service_config.json "$out/node/"
  if command -v node >/dev/null && [[ -d node/node_modules/protobufjs ]]; then
    node node/generate-types.js >"$out/types"
    mv "$out/types" "$out/node/types.d.ts"
  fi

  cp ../deploy/service_config.json "$out/go/"
  if command -v protoc-gen-go >/dev/null && command -v protoc-gen-go-grpc >/dev/null; then
    protoc -I "$proto" --go_out="$out/go" --go_opt=module=dragoman.internal/go \
      --go-grpc_out="$out/go" --go-grpc_opt=module=dragoman.internal/go "$api"
  fi
}

if [[ ${1:-} != --check ]]; then
  generate .
  exit 0
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
generate "$fresh"
stale=0
while read -r file; do
  # Comments contain the versions of the tools: ignore them.
  diff --brief <(sed '/^[/#].*\(protoc\|v[0-9]\)/d' "$file") <(sed '/^[/#].*\(protoc\|v[0-9]\)/d' "$fresh/$file") >/dev/null || {
    echo "clients/$file is out of date: run clients/generate.sh" >&2
    stale=1
  }
done < <(cd "$fresh" && find . -type f -printf '%P\n')
exit "$stale"
