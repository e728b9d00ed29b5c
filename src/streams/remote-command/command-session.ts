/** A node's side of exec and attach: plain streams of a command, and a result at the end. */
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { acceptCommand } from "./accept-command.ts";
import type { CommandRequest } from "./accept-command.ts";
import { resultText } from "./command-result.ts";
import type { CommandResult } from "./command-result.ts";
import type { CommandStreams } from "./command-streams.ts";
import { TerminalSizes } from "./terminal-size.ts";

export interface CommandSession {
  /** Ends when the client closes it or leaves. Undefined if the client did not ask for it, as the others. */
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Gives TerminalSize objects. Undefined without a terminal. */
  readonly resizes: Readable | undefined;
  /** Aborted when the client has left, and after `finish`. */
  readonly signal: AbortSignal;
  /** Sends the rest of the output and the result, then closes the connection. */
  readonly finish: (result: CommandResult) => Promise<void>;
}

/** Accepts a client that wants to run or attach to a command. Undefined if it was refused or left. */
export async function acceptSession(request: CommandRequest): Promise<CommandSession | undefined> {
  const accepted = await acceptCommand(request);
  return accepted === undefined ? undefined : sessionOf(accepted);
}

function sessionOf(command: CommandStreams): CommandSession {
  const { streams, protocol } = command;
  const ending = new AbortController();
  void command.closed.then(() => ending.abort());
  const stdout = streams.get("stdout");
  const stderr = streams.get("stderr");
  const sizes = streams.get("resize")?.pipe(new TerminalSizes());
  return {
    stdin: streams.get("stdin"),
    stdout,
    stderr,
    resizes: sizes,
    signal: ending.signal,
    async finish(result) {
      await Promise.all([stdout, stderr].map((each) => ended(each)));
      const error = streams.get("error");
      error?.write(resultText(result, protocol));
      await ended(error);
      command.close();
      await command.closed;
    },
  };
}

/** The client may have left: then there is nothing more to send. */
async function ended(stream: Writable | undefined): Promise<void> {
  if (stream === undefined) return;
  stream.end();
  await finished(stream, { readable: false }).catch(() => undefined);
}
