#!/bin/bash
# Installs the packages of one or more sections of debian-packages.txt, if any is missing:
#   cmake/install-packages.sh build test
set -euo pipefail
list="$(dirname "${BASH_SOURCE[0]}")/debian-packages.txt"

missing=()
for section in "$@"; do
  while read -r package command; do
    [[ -z $command ]] || ! command -v "$command" >/dev/null || continue
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
  done < <(awk -v section="$section" '$1 == section { print $2, $3 }' "$list")
done
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
  echo "this machine has no apt-get; on Debian 12 or 13 these packages would be installed: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "== Installing ${#missing[@]} packages: ${missing[*]}"
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends "${missing[@]}"
