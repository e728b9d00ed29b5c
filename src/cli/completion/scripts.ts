/** Scripts that make a shell ask the program for completions, so that all shells complete the same words. */

/** First line of an answer for which the shell completes paths. */
export const FILES_LINE = ":files";

/** Path of the program, as the answer is asked for. Its name may be an alias, which scripts do not see. */
export type ShellScript = (programFile: string) => string;

/**
 * bash splits words at `=` and `:`, so the line is split here, and what is before the last part is cut off again.
 * It runs on bash 3.2, which macOS has: no `mapfile`, no `compopt`.
 */
export const bashScript: ShellScript = (programFile) => `_setpoint() {
  local line=\${COMP_LINE:0:COMP_POINT} part=\${COMP_WORDS[COMP_CWORD]} words=() answer
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  case $part in = | :) part= ;; esac
  local word=\${words[\${#words[@]} - 1]}
  local before=\${word%"$part"}
  COMPREPLY=()
  while IFS= read -r answer; do
    if [ "$answer" = ${FILES_LINE} ]; then
      type compopt >/dev/null 2>&1 && compopt -o filenames
      while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$part")
      return
    fi
    answer=\${answer%%$'\\t'*}
    [[ $answer == */ ]] && type compopt >/dev/null 2>&1 && compopt -o nospace
    COMPREPLY+=("\${answer#"$before"}")
  done < <(node ${quoted(programFile)} completion bash -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _setpoint setpoint
`;

export const zshScript: ShellScript = (programFile) => `#compdef setpoint
_setpoint() {
  local -a answers whole begun
  local answer
  answers=("\${(@f)$(node ${quoted(programFile)} completion zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $answers[1] == ${FILES_LINE} ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
    return
  fi
  for answer in $answers; do
    # A colon separates the word from its description.
    answer=\${\${answer//:/\\\\:}/$'\\t'/:}
    if [[ \${answer%%:*} == */ ]]; then begun+=("$answer"); else whole+=("$answer"); fi
  done
  (( $#whole )) && _describe -V setpoint whole
  (( $#begun )) && _describe -V setpoint begun -S ''
}
if [[ $funcstack[1] == _setpoint ]]; then
  _setpoint "$@"
else
  # A zsh without a configuration has no completion yet.
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _setpoint setpoint
fi
`;

export const fishScript: ShellScript = (programFile) => `function __setpoint_answers
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l answers (node ${quoted(programFile)} completion fish -- $words[2..-1] "$word" 2>/dev/null)
  if test "$answers[1]" = ${FILES_LINE}
    set -l path (string replace -r -- '^--[^=]*=' '' "$word")
    set -l before (string replace -- "$path" '' "$word")
    for each in (__fish_complete_path "$path")
      echo -- "$before$each"
    end
    return
  end
  printf '%s\\n' $answers
end
complete -c setpoint -f -a '(__setpoint_answers)'
`;

/** One word for every shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
