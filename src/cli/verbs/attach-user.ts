/** Joins a remote command with the user's streams until it ends. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { CommandResult } from "../../streams/remote-command/command-result.ts";
import type { RemoteCommand } from "../../streams/remote-command/open-command.ts";
import type { UserStreams } from "../command.ts";

export interface Attachment {
  /** The command has a terminal: keys go to it at once, and it learns the size of the user's terminal. */
  readonly tty: boolean;
  /** An abort closes the connection. */
  readonly signal: AbortSignal;
}

/** Resolves once all output was passed on. The user's terminal is as before then. */
export async function attachUser(
  command: RemoteCommand,
  streams: UserStreams,
  { tty, signal }: Attachment,
): Promise<CommandResult> {
  const { stdin, stdout, stderr } = streams;
  const close = (): void => command.close();
  const restore = tty ? takeTerminal(command, streams) : () => undefined;
  signal.addEventListener("abort", close, { once: true });
  // The reader of our output may leave: `setpoint exec … | head`.
  stdout.once("error", close);
  try {
    if (command.stdin !== undefined) {
      // The command may end before its input does.
      command.stdin.on("error", () => undefined);
      stdin.pipe(command.stdin);
    }
    command.stdout?.pipe(stdout, { end: false });
    command.stderr?.pipe(stderr, { end: false });
    const [result] = await Promise.all([command.result, ended(command.stdout), ended(command.stderr)]);
    return result;
  } finally {
    signal.removeEventListener("abort", close);
    stdout.off("error", close);
    stdin.unpipe();
    stdin.pause();
    restore();
    close();
  }
}

/** Passes keys and sizes of the terminal on. The returned function gives it back. */
function takeTerminal(command: RemoteCommand, { stdin, stdout }: UserStreams): () => void {
  const resize = (): void => {
    const { columns, rows } = stdout;
    if (columns !== undefined && rows !== undefined) command.resize({ width: columns, height: rows });
  };
  stdin.setRawMode?.(true);
  stdout.on("resize", resize);
  resize();
  return () => {
    stdout.off("resize", resize);
    stdin.setRawMode?.(false);
  };
}

async function ended(stream: Readable | undefined): Promise<void> {
  if (stream !== undefined) await finished(stream, { writable: false }).catch(() => undefined);
}
