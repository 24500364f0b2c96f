# Completes dragoman and dragoman-server: their options, which are read from their --help, and values:
# files, directories, the choices that the help lists in braces, and the names of models and languages,
# which the server is asked for.  `dragoman completion bash` prints this file; zsh can run it, too.

# _dragoman_ask COMMAND...: what the server that the command line names says, quickly or not at all.
_dragoman_ask() {
  local server=
  case " $COMP_LINE" in
    *" --server="*) server=${COMP_LINE#*--server=} ;;
    *" --server "*) server=${COMP_LINE#*--server } ;;
  esac
  server=${server%% *}
  dragoman "$@" ${server:+--server "$server"} --deadline 2 2>/dev/null
}

# _dragoman_values OPTION TYPE: the values for an option; TYPE is what the help says of them.
_dragoman_values() {
  local choices=$2
  case $1 in
    -m | --model)
      [[ $2 == NAME=DIR* ]] || _dragoman_ask models --output json | sed -n 's/^{"name":"\([^"]*\)".*/\1/p'
      ;;
    -s | --source-language | languages) _dragoman_ask languages | sed 's/:.*//' ;;
    -t | --target-language) _dragoman_ask languages | sed 's/.*://' ;;
    models) _dragoman_values --model ;;
    completion) echo bash zsh fish ;;
  esac
  if [[ $choices == *\{*\}* ]]; then
    choices=${choices#*\{}
    echo "${choices%%\}*}" | tr , ' '
  fi
}

_dragoman() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local program=$1 subcommand= help line i
  COMPREPLY=()
  if [[ $current == = ]]; then # bash takes --option=value for three words
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ ${program##*/} == dragoman ]]; then
    for ((i = 1; i < COMP_CWORD; ++i)); do
      [[ ${COMP_WORDS[i]} == -* ]] || { subcommand=${COMP_WORDS[i]}; break; }
    done
    if [[ -z $subcommand && $current != -* ]]; then
      COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null |
        sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p')" -- "$current"))
      return
    fi
  fi
  help=$("$program" ${subcommand:+"$subcommand"} --help 2>/dev/null) || return

  if [[ $previous == -* ]]; then
    # What follows the name of the option in its line, "  -m,--model TEXT   the model": a value, if at all.
    line=$(grep -m 1 -E "^  (-[a-z],)?$previous( |,|$)" <<<"$help")
    line=${line#*--}
    line=${line#"${line%%[ ,]*}"}
    case $previous in
      --check | --directory | --model-directory | --models | --output-directory)
        compopt -o filenames
        COMPREPLY=($(compgen -d -- "$current"))
        return
        ;;
      --tls-server-name) return ;;
      --config | --input | --resume | --tls-* | --auth-tokens | --token-file | --metrics-token)
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$current"))
        return
        ;;
    esac
    if [[ $line == " "[A-Z{]* ]]; then
      line=${line# }
      COMPREPLY=($(compgen -W "$(_dragoman_values "$previous" "${line%% *}")" -- "$current"))
      return
    fi
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(sed -n 's/^  \(-[a-z],\)\{0,1\}\(--[a-z0-9-]\{1,\}\).*/\2/p' <<<"$help")" \
      -- "$current"))
  elif [[ $subcommand == translate-file ]]; then
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ -n $subcommand ]]; then
    COMPREPLY=($(compgen -W "$(_dragoman_values "$subcommand")" -- "$current"))
  fi
}
complete -F _dragoman dragoman dragoman-server
