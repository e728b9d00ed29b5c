/** `setpoint completion`: a script for a shell, and with words what the script asks for at each Tab. */
import type { Command } from "../command.ts";
import { candidatesFor, type Candidates } from "./candidates.ts";
import { clusterLookup } from "./cluster-lookup.ts";
import { bashScript, FILES_LINE, fishScript, zshScript, type ShellScript } from "./scripts.ts";

const SCRIPTS: Readonly<Record<string, ShellScript>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The command lists all commands when it runs, itself included. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    usage: ["shell", "[words...]"],
    choices: { shell: Object.keys(SCRIPTS) },
    help: "print a completion script for bash, zsh or fish",
    options: [],
    async run(io, { operands, rest, hasDashes }) {
      const script = SCRIPTS[operands["shell"] ?? ""];
      if (hasDashes === true) io.stdout(linesOf(await candidatesFor(rest, commands(), clusterLookup(io))));
      else if (script !== undefined) io.stdout(script(io.programFile));
    },
  };
}

/** `WORD`, or `WORD TAB DESCRIPTION`. */
function linesOf(candidates: Candidates): string {
  if (candidates === "files") return `${FILES_LINE}\n`;
  return candidates
    .map(({ text, help }) => (help === undefined ? `${text}\n` : `${text}\t${help}\n`))
    .join("");
}
