/** Streams of a program without a terminal. */
import { PassThrough, Readable } from "node:stream";
import type { UserStreams } from "./command.ts";

/** Standard input has `text`; output can be read. */
export function streamsWith(text = "") {
  return {
    stdin: Readable.from(text === "" ? [] : [Buffer.from(text)]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  } satisfies UserStreams;
}
