#!/bin/bash
# Writes a manual page from the --help of a program, so that both always agree.
#
#   man_page.sh PROGRAM NAME SECTION VERSION "one line of what it is" >NAME.SECTION
set -euo pipefail
program=$1 name=$2 section=$3 version=$4 summary=$5

# options [SUBCOMMAND]: the items of one --help.  CLI11 writes the text of an item in a second column, or
# on the next line if the item is long.
options() {
  "$program" "$@" --help | awk '
    function roff(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); sub(/^[.\x27]/, "\\\\\\&&", text); return text }
    /^(Options|Positionals|Subcommands):$/ { listing = $1 != "Subcommands:"; next }
    !listing || /^$/ { next }
    /^  [^ ]/ {
      item = $0; sub(/^ +/, "", item); text = ""
      if (match(item, /  +/)) { text = substr(item, RSTART + RLENGTH); item = substr(item, 1, RSTART - 1) }
      print ".TP\n.B " roff(item)
      if (text != "") print roff(text)
      next
    }
    { sub(/^ +/, ""); print roff($0) }'
}

# prose [SUBCOMMAND]: the text before the usage line.
prose() {
  "$program" "$@" --help | sed -e '/^Usage:/,$d' -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/" -e 's/^$/.PP/'
}

subcommands=$("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')

echo ".TH ${name^^} $section \"\" \"Dragoman $version\""
echo ".SH NAME"
echo "$name \\- $summary"
echo ".SH SYNOPSIS"
echo ".B $name"
[[ -z $subcommands ]] || echo ".I SUBCOMMAND"
echo "[\\fIOPTION\\fR]..."
echo ".SH DESCRIPTION"
prose
echo ".SH OPTIONS"
options
for subcommand in $subcommands; do
  echo ".SH ${subcommand^^}"
  prose "$subcommand"
  options "$subcommand"
done
if [[ $name == dragoman-server ]]; then
  cat <<'ROFF'
.SH FILES
.TP
.I /etc/dragoman/server.txtpb
What the systemd unit \fBdragoman.service\fR serves.
.TP
.I /var/lib/dragoman
A place for models.
.SH SEE ALSO
.BR dragoman (1)
ROFF
else
  printf '.SH SEE ALSO\n.BR dragoman-server (8)\n'
fi
