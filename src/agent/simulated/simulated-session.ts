/** Sessions of simulated containers: nothing is executed, and the output is known in advance. */
import { Readable, Writable } from "node:stream";
import type { AttachRequest, StreamSession } from "../runtime-handler.ts";
import type { ScriptedCommand } from "./exec-script.ts";

/** Gives the output and ends. A client without a stream for errors gets them with the output. */
export function answeredSession(
  { stdout, stderr, exitCode }: ScriptedCommand,
  request: AttachRequest,
): StreamSession {
  const hasErrors = request.stderr && !request.tty;
  const output = hasErrors ? stdout : stdout + stderr;
  return {
    stdin: request.stdin ? ignoredInput() : undefined,
    stdout: request.stdout ? outputOf(request.tty ? output.replaceAll("\n", "\r\n") : output) : undefined,
    stderr: hasErrors ? outputOf(stderr) : undefined,
    resize: () => undefined,
    ended: Promise.resolve({ type: "exited", exitCode }),
    close: () => undefined,
  };
}

/** Takes everything and drops it. */
export function ignoredInput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

function outputOf(text: string): Readable {
  return Readable.from(text === "" ? [] : [Buffer.from(text)]);
}
