/** `setpoint exec`: runs a command in a container, and passes its exit code on. */
import type { CommandOptions } from "../../streams/remote-command/protocols.ts";
import { SilentFailure, UsageError, type Command, type UserStreams } from "../command.ts";
import { attachUser } from "./attach-user.ts";
import { openPodCommand } from "./open-streams.ts";
import { containerOf, containerOption, podTimeoutOption, readiestPod } from "./pods-named.ts";
import { verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

export const execCommand: Command = {
  name: "exec",
  isKubectlVerb: true,
  usage: ["object", "[command...]"],
  help: "run a command in a container: POD or TYPE/NAME, then -- COMMAND",
  options: [
    containerOption,
    { flags: "-i, --stdin", help: "pass standard input to the command" },
    { flags: "-t, --tty", help: "give the command a terminal" },
    { flags: "-q, --quiet", help: "only the command's own output" },
    podTimeoutOption,
    ...verbOptions,
  ],
  endsProcess: true,
  async run(io, args) {
    if (args.hasDashes !== true || args.rest.length === 0)
      throw new UsageError("write the command after two dashes: exec POD -- COMMAND");
    return withSession(io, args, exec);
  },
};

async function exec(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const pod = await readiestPod(session, args.operands["object"] ?? "");
  const { phase } = pod.status ?? {};
  if (phase === "Succeeded" || phase === "Failed")
    throw new Error(`cannot exec into a container in a completed pod; current phase is ${phase}`);
  const streams = io.streams();
  const options = commandOptions(session, streams);
  const container = containerOf(session, pod);
  const command = await openPodCommand(session, pod, { container, command: args.rest, options });
  const result = await attachUser(command, streams, { tty: options.tty, signal: io.signal });
  if (io.signal.aborted) throw new SilentFailure(INTERRUPTED);
  if (result.type === "failed") throw new Error(result.message);
  if (result.code === 0) return;
  io.stderr(`command terminated with exit code ${String(result.code)}\n`);
  throw new SilentFailure(result.code);
}

/** A terminal for the command needs one for its input. */
function commandOptions({ io, args }: VerbSession, { stdin: input }: UserStreams): CommandOptions {
  const stdin = args.options["stdin"] === true;
  const wantsTty = stdin && args.options["tty"] === true;
  const tty = wantsTty && input.isTTY === true;
  if (wantsTty && !tty && args.options["quiet"] !== true)
    io.stderr("Unable to use a TTY - input is not a terminal or the right kind of file\n");
  return { stdin, stdout: true, stderr: !tty, tty };
}

/** Exit code of a program that Ctrl-C ended, as shells report it. */
const INTERRUPTED = 130;
