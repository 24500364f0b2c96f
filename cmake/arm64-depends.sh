#!/bin/bash
# Prints what a Debian package with these programs for 64-bit ARM depends on, as dpkg-shlibdeps does for
# this machine's:
#
#   cmake/arm64-depends.sh SYSROOT PROGRAM...        libc6 (>= 2.36), libcurl4 (>= 7.16.2), ...
#
# SYSROOT is the tree of arm64-sysroot.sh, which has kept the packages' own word on their libraries.
set -euo pipefail
sysroot=$1
shift

# A program names libfoo.so.1 or libfoo-1.so; shlibs has the name, the version, and a package with its own version.
aarch64-linux-gnu-objdump --private-headers "$@" | awk -v shlibs="$sysroot/shlibs" '
  BEGIN {
    while ((getline line < shlibs) > 0) {
      split(line, word)
      if (word[1] ~ /:$/) continue  # of another type of package
      package = line
      sub(/^[^ ]+ +[^ ]+ +/, "", package)
      package_of[word[1], word[2]] = package
    }
  }
  $1 == "NEEDED" && $2 !~ /^ld-linux/ && !($2 in seen) {
    seen[$2]
    name = version = $2
    if ($2 ~ /\.so\./) {
      sub(/\.so\..*/, "", name)
      sub(/.*\.so\./, "", version)
    } else {
      sub(/\.so$/, "", version)
      sub(/.*-/, "", version)
      sub(/-[^-]*\.so$/, "", name)
    }
    if (!((name, version) in package_of)) {
      print "arm64-depends.sh: no package has " $2 > "/dev/stderr"
      exit 1
    }
    print package_of[name, version]
  }' | sort -u | paste --serial --delimiters=, | sed 's/,/, /g'
