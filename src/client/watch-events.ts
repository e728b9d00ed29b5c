/** The events of a watch in the form that programs see. */
import type { ApiObject } from "../api/api-object.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import type { WatchEvent } from "./client.ts";
import { errorFromResponse } from "./response-error.ts";
import type { TransportEvent } from "./transport.ts";

/** Annotation of the bookmark after the initial objects. */
const INITIAL_END = "k8s.io/initial-events-end";

/** Delivers the events before an ERROR event, then rejects with its error. */
export class WatchEvents<T extends ApiObject> implements AsyncIterable<readonly WatchEvent<T>[]> {
  readonly #source: AsyncIterator<readonly TransportEvent[]>;
  #failure: Error | undefined;

  constructor(events: AsyncIterable<readonly TransportEvent[]>) {
    this.#source = events[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly WatchEvent<T>[], undefined> {
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #next(): Promise<IteratorResult<readonly WatchEvent<T>[], undefined>> {
    if (this.#failure !== undefined) return this.#fail(this.#failure);
    const next = await this.#source.next();
    if (next.done === true) return OVER;
    const failedAt = next.value.findIndex(({ type }) => type === "ERROR");
    if (failedAt === -1) return { done: false, value: next.value.map(watchEvent<T>) };
    const failure = errorOf(next.value[failedAt]?.object);
    if (failedAt === 0) return this.#fail(failure);
    this.#failure = failure;
    return { done: false, value: next.value.slice(0, failedAt).map(watchEvent<T>) };
  }

  async #fail(failure: Error): Promise<never> {
    this.#failure = undefined;
    await this.#source.return?.();
    throw failure;
  }

  async #leave(): Promise<IteratorResult<readonly WatchEvent<T>[], undefined>> {
    this.#failure = undefined;
    await this.#source.return?.();
    return OVER;
  }
}

const OVER = { done: true, value: undefined } as const;

function watchEvent<T extends ApiObject>(event: TransportEvent): WatchEvent<T> {
  if (event.type !== "BOOKMARK") return event as WatchEvent<T>;
  const { metadata } = event.object as ApiObject;
  return {
    type: "BOOKMARK",
    resourceVersion: metadata.resourceVersion ?? "",
    isInitialEnd: metadata.annotations?.[INITIAL_END] === "true",
  };
}

function errorOf(status: unknown): Error {
  const code = isJsonObject(status) ? status["code"] : undefined;
  return errorFromResponse({ code: typeof code === "number" ? code : 500, value: status });
}
