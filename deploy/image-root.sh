#!/bin/bash
# Lays out the root file system of the image: the programs, the shared libraries that they load, the
# certificate authorities that `dragoman pull` trusts, the model, two accounts, and for vulnerability
# scanners dpkg's status and licences of the packages that these files come from, and a bill of
# materials (sbom.py).
#
#   deploy/image-root.sh BUILD ROOT     BUILD is the build folder, ROOT a folder to create
set -euo pipefail
build=$1
root=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
libraries=$root/usr/lib/$(uname -m)-linux-gnu

install -d "$libraries" "$root"/usr/{bin,lib64} "$root"/{etc,models} "$root/var/lib/dpkg/status.d"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
programs=("$build/server/dragoman-server" "$build/client/dragoman")
install --strip "${programs[@]}" "$root/usr/bin"

# library_files: the libraries that the dynamic linker loads for the programs, and the linker itself.
library_files() {
  ldd "${programs[@]}" | awk '/not found/ { print > "/dev/stderr"; exit 1 }
    $2 == "=>" { print $3 } $1 ~ /^\/lib(64)?\/ld-linux/ { print $1 }' | sort -u
}

files=$(library_files)
for file in $files; do
  case $file in
    */ld-linux*) install "$file" "$root/usr${file%/*}" ;; # in lib64 on x86-64, in lib on 64-bit ARM
    *) install --mode=644 "$file" "$libraries" ;;
  esac
done

# The path where Debian's libcurl looks for it.
authorities=/etc/ssl/certs/ca-certificates.crt
[[ -s $authorities ]] || {
  echo "image-root.sh: $authorities is missing: cmake/install-packages.sh image" >&2
  exit 1
}
install -D --mode=644 "$authorities" "$root$authorities"

# package_of FILE: the Debian package that it belongs to; dpkg may list it in /lib or in /usr/lib.
package_of() {
  local real
  real=$(realpath "$1")
  dpkg-query --search "$real" "${real#/usr}" 2>/dev/null | head -n 1 | cut -d : -f 1
}

for package in ca-certificates $(for file in $files; do package_of "$file"; done | sort -u); do
  dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  install -D --mode=644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done
install -D --mode=644 "$source/LICENSE" "$root/usr/share/doc/dragoman/copyright"

cp -R "$source/models/en-de-fr-es" "$root/models/"
printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nnonroot:x:65532:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
"$source/deploy/sbom.py" "$root"
chmod -R a+rX "$root"
install -d -o 65532 -g 65532 -m 0700 "$root/var/lib/dragoman"
install -d -m 1777 "$root/tmp" # for files that are translated
