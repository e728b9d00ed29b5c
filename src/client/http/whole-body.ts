/** The body of an answer as a whole, within a bound. */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { jsonValue } from "./json-value.ts";

/** The body as a value: JSON as what it says, anything else as text, undefined when there is nothing. */
export async function readValue(answer: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = (await readWhole(unpacked(answer), maxBytes)).toString("utf8");
  if (text.trim() === "") return undefined;
  return isJson(answer.headers["content-type"]) ? jsonValue(text) : text;
}

/** What is left unread is closed. */
async function readWhole(body: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new RangeError(`the answer has more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

function unpacked(answer: IncomingMessage): Readable {
  if (answer.headers["content-encoding"] !== "gzip") return answer;
  // Whoever reads what comes out hears of what breaks; the pipeline carries it there.
  return pipeline(answer, createGunzip(), () => undefined);
}

function isJson(type = ""): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type);
}
