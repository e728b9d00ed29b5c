/** Parses the events of a watch: one line of JSON each. */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { TransportEvent, WatchEventType } from "../transport.ts";
import { jsonValue } from "./json-value.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Ten times the largest object that a server stores. */
const LINE_BYTES_MAX = 32 * 1024 * 1024;

const TYPES: readonly WatchEventType[] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"];

/**
 * Events that arrive together form one item. An end within an event is a broken connection; the partial event is
 * dropped.
 */
export class EventStream implements AsyncIterableIterator<readonly TransportEvent[], undefined> {
  readonly #bytes: AsyncIterator<Uint8Array, undefined>;
  readonly #lines = new LineSplitter(LINE_BYTES_MAX);

  constructor(bytes: AsyncIterator<Uint8Array, undefined>) {
    this.#bytes = bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly TransportEvent[], undefined>> {
    for (;;) {
      const next = await this.#bytes.next();
      if (next.done === true) return this.#end();
      const events = await this.#eventsIn(next.value);
      if (events.length > 0) return { done: false, value: events };
    }
  }

  async return(): Promise<IteratorResult<readonly TransportEvent[], undefined>> {
    await this.#bytes.return?.();
    return { done: true, value: undefined };
  }

  /** Stops reading the stream after an invalid line. */
  async #eventsIn(bytes: Uint8Array): Promise<readonly TransportEvent[]> {
    try {
      return this.#lines.push(bytes).map(eventOf);
    } catch (error) {
      await this.#bytes.return?.();
      throw error;
    }
  }

  #end(): IteratorResult<readonly TransportEvent[], undefined> {
    if (this.#lines.isWithinLine) throw new Error("the watch ended within an event");
    return { done: true, value: undefined };
  }
}

function eventOf(line: string): TransportEvent {
  const event = jsonValue(line);
  const type = isJsonObject(event) ? TYPES.find((known) => known === event["type"]) : undefined;
  // The error must not show the line: it may contain a secret, and errors are logged.
  if (type === undefined || !isJsonObject(event))
    throw new SyntaxError("a line of the watch is not an event");
  return { type, object: event["object"] };
}
