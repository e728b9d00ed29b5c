/** Reads the complete body of a response, up to a limit. */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { jsonValue } from "./json-value.ts";

/** The body as a value: parsed JSON, else text; undefined when it is empty. */
export async function readValue(answer: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = (await readWhole(unpacked(answer), maxBytes)).toString("utf8");
  if (text.trim() === "") return undefined;
  return isJson(answer.headers["content-type"]) ? jsonValue(text) : text;
}

/** Closes the stream when it exceeds the limit. */
async function readWhole(body: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new RangeError(`the response has more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

function unpacked(answer: IncomingMessage): Readable {
  if (answer.headers["content-encoding"] !== "gzip") return answer;
  // The reader of the output receives the errors; the pipeline forwards them.
  return pipeline(answer, createGunzip(), () => undefined);
}

function isJson(type = ""): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type);
}
