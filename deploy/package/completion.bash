# Completes the options of dragoman and dragoman-server, which are read from their --help, and some of
# their values: files, directories and the choices that the help lists in braces.

_dragoman() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local program=$1 subcommand= help line
  COMPREPLY=()
  if [[ ${program##*/} == dragoman ]]; then
    local word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
      [[ $word == -* ]] || { subcommand=$word; break; }
    done
    if [[ -z $subcommand && $current != -* ]]; then
      COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null |
        sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')" -- "$current"))
      return
    fi
  fi
  help=$("$program" ${subcommand:+"$subcommand"} --help 2>/dev/null) || return

  if [[ $previous == --* ]]; then
    line=$(grep -m 1 -E "^  (-[a-z],)?$previous( |,|=|$)" <<<"$help")
    case $previous in
      --check | --directory | --model-directory) compopt -o filenames; COMPREPLY=($(compgen -d -- "$current")); return ;;
      --config | --input | --resume | --tls-* | --auth-tokens | --token-file)
        if [[ $previous != --tls-server-name ]]; then
          compopt -o filenames
          COMPREPLY=($(compgen -f -- "$current"))
        fi
        return
        ;;
    esac
    if [[ $line =~ \{([a-z0-9,_]+)\} ]]; then
      COMPREPLY=($(compgen -W "${BASH_REMATCH[1]//,/ }" -- "$current"))
      return
    fi
    # An option with a value for which there is nothing to propose.
    [[ $line =~ $previous\ (TEXT|INT|UINT|FLOAT|BOOLEAN|[A-Z]+=?) ]] && return
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(sed -n 's/^  \(-[a-z],\)\{0,1\}\(--[a-z0-9-]\+\).*/\2/p' <<<"$help")" -- "$current"))
  fi
}
complete -F _dragoman dragoman dragoman-server
