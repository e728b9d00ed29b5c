/** Scripts with which shells complete commands and flags. */
import type { Command, OptionSpec } from "./command.ts";

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The command lists all commands when it runs, itself included. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    usage: ["shell"],
    choices: { shell: Object.keys(SHELLS) },
    help: "print a completion script for bash, zsh or fish",
    options: [],
    run(io, { operands }) {
      const shell = operands["shell"] as keyof typeof SHELLS;
      io.stdout(SHELLS[shell](commands()));
      return Promise.resolve();
    },
  };
}

function bashScript(commands: readonly Command[]): string {
  const cases = commands.map(({ name, options }) => `    ${name}) words="${flagsOf(options).join(" ")}" ;;`);
  return `_setpoint() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${namesOf(commands)}" -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -o filenames -F _setpoint setpoint
`;
}

function zshScript(commands: readonly Command[]): string {
  const cases = commands.map(({ name, options }) => `    ${name}) flags=(${flagsOf(options).join(" ")}) ;;`);
  return `#compdef setpoint
_setpoint() {
  local -a flags
  if (( CURRENT == 2 )); then
    compadd -- ${namesOf(commands)}
    return
  fi
  case \${words[2]} in
${cases.join("\n")}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then compadd -- $flags; else _files; fi
}
compdef _setpoint setpoint
`;
}

function fishScript(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, help, options }) => [
    `complete -c setpoint -f -n __fish_use_subcommand -a ${name} -d '${quoted(help)}'`,
    ...options.map((option) => {
      const value = /[<[]/.test(option.flags) ? " -r" : "";
      const flag = flagsOf([option])[0] ?? "";
      return `complete -c setpoint -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}${value} -d '${quoted(option.help)}'`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

function namesOf(commands: readonly Command[]): string {
  return commands.map(({ name }) => name).join(" ");
}

function flagsOf(options: readonly OptionSpec[]): readonly string[] {
  return [...options.flatMap(({ flags }) => /--[\w-]+/.exec(flags)?.[0] ?? []), "--help"];
}

function quoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
