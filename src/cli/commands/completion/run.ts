import type { Run } from '../../spec/index.ts';
import type * as spec from './spec.ts';

export const completion: Run<typeof spec.completion> = async ({ terminal }, { shell }) => {
  const script = COMPLETION_SCRIPTS[shell];
  terminal.result({ shell, script }, { lines: () => script.trimEnd().split('\n') });
  return 0;
};

const BASH = `# Completion of farelock for bash. To install:
#   farelock completion bash > ~/.local/share/bash-completion/completions/farelock
# or, for this shell alone:
#   source <(farelock completion bash)
_farelock() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  local -a names
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      mapfile -t names < <(compgen -f -- "$current")
      COMPREPLY+=("\${names[@]}")
      compopt -o filenames 2>/dev/null
    else
      COMPREPLY+=("$line")
    fi
  done < <("\${COMP_WORDS[0]}" complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  return 0
}
complete -F _farelock farelock
`;

const ZSH = `#compdef farelock
# Completion of farelock for zsh. To install, into a folder of $fpath:
#   farelock completion zsh > ~/.zfunc/_farelock
# or, for this shell alone, after compinit:
#   source <(farelock completion zsh)
_farelock() {
  local -a lines candidates
  local line files=0
  lines=("\${(@f)$("\${words[1]}" complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    if [[ $line == :files ]]; then
      files=1
    elif [[ -n $line ]]; then
      candidates+=("$line")
    fi
  done
  (( $#candidates )) && _describe -V farelock candidates
  (( files )) && _files
  return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _farelock "$@"
else
  compdef _farelock farelock
fi
`;

const FISH = `# Completion of farelock for fish. To install:
#   farelock completion fish > ~/.config/fish/completions/farelock.fish
# or, for this shell alone:
#   farelock completion fish | source
function __farelock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete fish -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path "$current"
        else
            printf '%s\\n' $line
        end
    end
end
complete -c farelock -f -a '(__farelock_complete)'
`;

/** Each script begins with a comment on how to install it. */
const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };
