/** Reads the complete body of a response, up to a limit. */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { jsonValue } from "./json-value.ts";

/** The body as a value: parsed JSON, else text; undefined when it is empty. */
export async function readValue(response: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = (await readWhole(unpacked(response), maxBytes)).toString("utf8");
  if (text.trim() === "") return undefined;
  return isJson(response.headers["content-type"]) ? jsonValue(text) : text;
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

function unpacked(response: IncomingMessage): Readable {
  if (response.headers["content-encoding"] !== "gzip") return response;
  // The reader of the output receives the errors; the pipeline forwards them.
  return pipeline(response, createGunzip(), () => undefined);
}

function isJson(type = ""): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type);
}
