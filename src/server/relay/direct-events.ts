/** Parses the events of a watch response for a caller within the process. Each line is one JSON object. */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { DirectEvent } from "../request/http.ts";

/** Upper bound of one event: more than any API server writes. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);
const LF = 0x0a;

/** Yields the events of one chunk together. Throws at the first line that is not an event. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly DirectEvent[]> {
  let rest = Buffer.alloc(0);
  for await (const piece of body) {
    const text = Buffer.concat([rest, piece]);
    const end = text.lastIndexOf(LF) + 1;
    rest = text.subarray(end);
    if (rest.byteLength > LINE_BYTES_MAX)
      throw new RangeError(`an event is longer than ${LINE_BYTES_MAX} bytes`);
    if (end > 0) yield linesOf(text.subarray(0, end)).map(eventOf);
  }
}

function linesOf(text: Buffer): readonly string[] {
  return text
    .toString()
    .split("\n")
    .filter((line) => line.trim() !== "");
}

function eventOf(line: string): DirectEvent {
  const value = parsed(line);
  if (!isJsonObject(value) || !TYPES.has(value["type"])) throw new TypeError("a line of a watch is no event");
  return { type: value["type"] as DirectEvent["type"], object: value["object"] };
}

/** Hides the parser's own message, which would quote the content. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
