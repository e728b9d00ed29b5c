/** The streams of one command on a connection, whatever carries them. */
import type { Duplex } from "node:stream";
import type { CommandProtocol, StreamName } from "./protocols.ts";

export interface CommandStreams {
  readonly protocol: CommandProtocol;
  readonly streams: ReadonlyMap<StreamName, Duplex>;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<void>;
  /** Closes the connection after everything written was sent. */
  close(): void;
  /** Closes the connection at once. */
  destroy(): void;
}

/** Reads and drops bytes of clients on streams that carry only output, so that their end is seen. */
export function dropInput(streams: ReadonlyMap<StreamName, Duplex>): void {
  for (const name of ["stdout", "stderr", "error"] as const) streams.get(name)?.resume();
}

/** Upper bound of a result. A Status has some hundred bytes. */
const RESULT_BYTES_MAX = 64 * 1024;

/** Reads the result as written. Empty if the connection closes before. */
export async function readResultText({ streams }: CommandStreams): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of streams.get("error") as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes <= RESULT_BYTES_MAX) pieces.push(piece);
    }
  } catch {
    return "";
  }
  return Buffer.concat(pieces).toString();
}
