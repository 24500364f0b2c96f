#!/bin/bash
# Builds Dragoman, starts the server with the model that comes with it, and translates three sentences.
#
#   ./run.sh           keeps serving until Ctrl-C
#   ./run.sh --demo    stops after the sentences
#
# Other arguments go to the server (build/release/server/dragoman-server --help), for example
#   ./run.sh --grpc-address 0.0.0.0:50051 --http-address 0.0.0.0:9464 --model en-fr=DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

build=build/release
log=build/server.log
sentences=(
  "Good morning! How are you?"
  "Je suis étudiant."
  "You are welcome."
)
targets=(de en es) # of the sentences

demo=false
arguments=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^set/{/^# \{0,1\}/s///p}' "${BASH_SOURCE[0]##*/}"
      exit 0
      ;;
    --demo) demo=true ;;
    *) arguments+=("$argument") ;;
  esac
done

# given NAME...: whether one of these options is among the arguments for the server.
given() {
  local argument name
  for argument in ${arguments[@]+"${arguments[@]}"}; do
    for name in "$@"; do
      [[ $argument == "$name" || $argument == "$name="* ]] && return 0
    done
  done
  return 1
}

# address PORT: HOST:PORT to listen on, with a free port if this one is taken.
address() {
  if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
    echo "127.0.0.1:0"
  else
    echo "127.0.0.1:$1"
  fi
}

cmake/install-packages.sh build

if [[ ! -f $build/build.ninja ]]; then
  echo "== Configuring"
  cmake --preset release -DBUILD_TESTING=OFF
fi
echo "== Building (a few minutes the first time)"
cmake --build --preset release --target dragoman-server dragoman

ours=true # whether it serves the model that comes with it
given --config --model --models && ours=false
if $ours; then
  arguments+=(--model en-de-fr-es=models/en-de-fr-es)
  given --pivot || arguments+=(--pivot en)
fi
given --config --grpc-address || arguments+=(--grpc-address "$(address 50051)")
given --config --http-address || arguments+=(--http-address "$(address 9464)")

echo "== Starting the server (its log: $log)"
set -m # the server in a process group of its own: Ctrl-C comes to this script, which forwards it
"$build/server/dragoman-server" "${arguments[@]}" >"$log" 2>&1 &
server=$!
set +m

stopped=false
stop() {
  $stopped || echo "== Stopping"
  stopped=true
  kill -TERM "$server" 2>/dev/null || true
}
trap stop INT TERM
trap 'kill -TERM "$server" 2>/dev/null || true' EXIT

# Waits for the server and exits with its exit code.
finish() {
  local code=0
  while true; do
    wait "$server" && code=0 || code=$?
    kill -0 "$server" 2>/dev/null || break # otherwise a signal interrupted wait
  done
  if ((code != 0)); then
    echo "the server ended with exit code $code; the end of its log:" >&2
    tail -n 20 "$log" >&2
  fi
  exit "$code"
}

until listening=$(grep -m 1 '^listening ' "$log"); do
  kill -0 "$server" 2>/dev/null || finish
  sleep 0.05
done
[[ $listening =~ grpc=([^ ]+)\ http=([^ ]+) ]]
grpc=${BASH_REMATCH[1]}
http=${BASH_REMATCH[2]}

client=$build/client/dragoman
echo
for i in "${!sentences[@]}"; do
  options=()
  $ours && options=(--target-language "${targets[i]}")
  translation=$("$client" translate --server "$grpc" ${options[@]+"${options[@]}"} "${sentences[i]}")
  echo "  ${sentences[i]}  ->  $translation"
done
echo
echo "  Try it in a browser: http://$http/       How it is doing: http://$http/status"
echo "  gRPC: $grpc     metrics and probes: http://$http/metrics /healthz /readyz"
echo
echo "  In a second terminal:"
echo "    export PATH=\"$PWD/build/release/client:$PWD/build/release/server:\$PATH\""
[[ $grpc == 127.0.0.1:50051 ]] || echo "    export DRAGOMAN_SERVER=$grpc"
echo "    dragoman translate \"The weather is nice today.\""
echo "    dragoman --help"
echo
if $demo; then
  stop
else
  echo "Serving until Ctrl-C."
fi
finish
