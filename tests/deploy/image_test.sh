#!/bin/bash
# Builds the image and serves from its root file system: read-only, as user 65532, without a shell.
#
#   tests/deploy/image_test.sh      as root, with docker or buildah
#
# DRAGOMAN_BUILD_FLAGS go to the builder (deploy/README.md has those for a machine without an engine).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

((EUID == 0)) || fail "only root can mount the image's file system"
read -ra flags <<<"${DRAGOMAN_BUILD_FLAGS:-}"
tag=localhost/dragoman:image-test
work=$(mktemp -d)
root=$work/root
server=
clean() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z ${container:-} ]] || remove_container >/dev/null
  rm -rf "$work"
}
trap clean EXIT

if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
  remove_container() { docker rm "$container"; }
  docker build "${flags[@]}" --tag "$tag" .
  docker image inspect --format '{"Docker": {"config": {{json .Config}}}}' "$tag" >"$work/config.json"
  container=$(docker create "$tag")
  mkdir "$root"
  docker export "$container" | tar --extract --directory "$root"
elif command -v buildah >/dev/null; then
  remove_container() { buildah rm "$container"; }
  buildah bud "${flags[@]}" --layers --format docker --tag "$tag" .
  buildah inspect --type image "$tag" >"$work/config.json"
  container=$(buildah from --pull=never "$tag")
  cp -a "$(buildah mount "$container")" "$root"
else
  fail "neither a docker engine nor buildah is installed"
fi

echo "== The image's configuration"
python3 - "$work/config.json" <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))["Docker"]["config"]
wanted = {"User": "65532:65532", "StopSignal": "SIGTERM", "Entrypoint": ["/usr/bin/dragoman-server"],
          "ExposedPorts": {"50051/tcp": {}, "9464/tcp": {}}}
for name, value in wanted.items():
    assert config[name] == value, f"{name} is {config[name]}, want {value}"
assert config["Healthcheck"]["Test"][:3] == ["CMD", "/usr/bin/dragoman", "health"], config["Healthcheck"]
assert config["Labels"]["org.opencontainers.image.title"] == "dragoman", config["Labels"]
PYTHON

bytes=$(du --summarize --bytes "$root" | cut -f 1)
echo "== The image's files: $((bytes / 1000000)) MB"
((bytes < 150000000)) || fail "the image is $bytes bytes, want less than 150 MB"
shell=$(find "$root" -name '*sh' -perm /111 -type f)
[[ -z $shell ]] || fail "a shell is in the image: $shell"
[[ -z $(find "$root" -perm /6000) ]] || fail "a setuid program is in the image"
grep -q '"bomFormat": "CycloneDX"' "$root/usr/share/doc/dragoman/sbom.cdx.json" || fail "there is no bill of materials"

echo "== Serving from it, read-only, as user 65532"
# Does what a container runtime does, as far as it matters here: a mount namespace with a read-only root.
cat >"$work/serve.sh" <<'SERVE'
mount --bind "$1" "$1"
mkdir -p "$1/proc" && mount -t proc proc "$1/proc"
mount -o remount,ro,bind "$1"
if touch "$1/written" 2>/dev/null; then echo "the root is writable" >&2; exit 1; fi
exec chroot --userspec=65532:65532 --groups= "$1" /usr/bin/dragoman-server --model en-de-fr-es=/models/en-de-fr-es \
  --grpc-address 127.0.0.1:0 --http-address 127.0.0.1:0
SERVE
unshare --mount bash -eu "$work/serve.sh" "$root" >"$work/log" 2>&1 &
server=$!
for _ in {1..600}; do
  grep -q '^listening ' "$work/log" && break
  kill -0 "$server" 2>/dev/null || fail "the server ended: $(<"$work/log")"
  sleep 0.1
done
[[ $(<"$work/log") =~ listening\ grpc=([^ ]+) ]] || fail "the server does not listen: $(<"$work/log")"
address=${BASH_REMATCH[1]}
awk '$1 == "Uid:" { exit $2 != 65532 }' "/proc/$server/status" || fail "the server is not user 65532"

client=(chroot --userspec=65532:65532 --groups= "$root" /usr/bin/dragoman)
[[ $("${client[@]}" health --server "$address") == SERVING ]] || fail "its health is not SERVING"
answer=$("${client[@]}" translate --server "$address" "Good morning.")
echo "Good morning. -> $answer"
[[ $answer == "Guten Morgen." ]] || fail "it answers $answer"

echo "== Pulling a model over https"
python3 tests/deploy/image_pull.py "$root" || fail "dragoman pull does not work in the image"

kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
((code == 0)) || fail "the server ended with exit code $code after SIGTERM"
echo "passed"
