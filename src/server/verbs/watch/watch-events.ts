/** The events of a watch. Reads the store when the client takes events; `watch-step.ts` decides what the client gets. */
import { type ApiError, expired, toStatus } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { isStoreError } from "../../../store/store-error.ts";
import { groupResource } from "../../objects/registry.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { toApiError } from "../../objects/store-errors.ts";
import type { WatchEventAnswer, WatchEvents } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import type { ObjectFilter } from "../read/object-filter.ts";
import { OpenWatch, type OpenWatchOptions, type WatchParts } from "./open-watch.ts";
import { WatchClock } from "./watch-clock.ts";
import { FIRST_STATE, step, type WatchInput, type WatchRules, type WatchState } from "./watch-step.ts";
import { eventsOfChanges, eventsOfExisting, type WatchItem } from "./watched-entries.ts";

export interface WatchEventsOptions {
  readonly call: Call<StoredResource>;
  readonly parts: WatchParts & { readonly loop: Loop };
  readonly rules: WatchRules;
  readonly timeoutSeconds: number | undefined;
  /** Error that prevents the watch. It is sent as the only event. */
  readonly failure: ApiError | undefined;
}

/** Bounds of one step of the loop that reads existing objects, of which the selectors may match few. */
const PIECES_PER_READ = 10;
const READ_MS = 5;
const IDLE: WatchInput = { type: "idle" };

/** Values that the watch drops once it is open. */
export type WatchStart = Pick<OpenWatchOptions, "existing" | "prefix" | "selectors">;

type Phase =
  | { readonly name: "new"; readonly start: WatchStart }
  | { readonly name: "open"; readonly open: OpenWatch; state: WatchState }
  | { readonly name: "closed" };
type OpenPhase = Extract<Phase, { readonly name: "open" }>;

/** Result of `WatchEvents.take`. */
type Taken = ReturnType<WatchEvents["take"]>;

export class StoreWatchEvents implements WatchEvents {
  readonly #options: WatchEventsOptions;
  readonly #clock: WatchClock;
  #phase: Phase;
  #notify: () => void = noListener;

  constructor(options: WatchEventsOptions, start: WatchStart) {
    this.#options = options;
    this.#clock = new WatchClock(options.parts.loop, options.timeoutSeconds);
    this.#phase = { name: "new", start };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEventAnswer[]> {
    try {
      for (;;) {
        const taken = this.take();
        if (taken === "end") return;
        if (taken === undefined) {
          await this.#ready();
          continue;
        }
        yield taken;
        // The reader decodes existing objects: each batch takes a step of its own.
        if (this.#isAmongExisting) await this.#turn();
      }
    } finally {
      this.close();
    }
  }

  get #isAmongExisting(): boolean {
    return this.#phase.name === "open" && this.#phase.state.name === "existing";
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#options.parts.loop.post("request", resolve));
  }

  /** Resolves in a separate step of the loop. */
  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.whenReady(() => {
        this.#notify = noListener;
        this.#options.parts.loop.post("request", resolve);
      });
    });
  }

  whenReady(listener: () => void): void {
    this.#notify = listener;
  }

  take(): Taken {
    try {
      if (this.#phase.name === "new") this.#open(this.#phase.start);
      return this.#phase.name === "open" ? this.#read(this.#phase) : "end";
    } catch (error) {
      return this.#failed(error);
    }
  }

  close(): void {
    const phase = this.#phase;
    if (phase.name === "closed") return;
    this.#phase = { name: "closed" };
    this.#notify = noListener;
    this.#options.call.notes.begun();
    this.#clock.stop();
    if (phase.name === "open") phase.open.close();
  }

  #open(start: WatchStart): void {
    const { call, parts, rules, failure } = this.#options;
    if (failure !== undefined) throw failure;
    const onKindEnded = (): void => {
      this.#happened({ type: "kind ended", revision: parts.store.view.revision, through: this.#through });
    };
    const open = new OpenWatch({ ...start, after: rules.after, call }, parts, {
      onReady: () => this.#notify(),
      onLeft: () => this.#happened({ type: "ended" }),
      onKindEnded,
    });
    this.#phase = { name: "open", open, state: FIRST_STATE };
    if (call.resource.ended?.aborted === true) onKindEnded();
    if (call.request.signal.aborted) this.close();
    if (this.#phase.name === "open") this.#clock.start((alarm) => this.#happened({ type: "rang", alarm }));
  }

  /** Revision up to which all changes were read. */
  get #through(): number {
    return this.#phase.name === "open" ? this.#phase.open.entries.revision : Infinity;
  }

  /** Reads until there are events for the client, or nothing to read. */
  #read(phase: OpenPhase): Taken {
    const { entries, filter, counted } = phase.open;
    let events = this.#step({ type: "asked", through: entries.revision });
    let isIdle = false;
    let pieces = 0;
    let mayRead = true;
    const endAt = this.#options.parts.loop.elapsed() + READ_MS;
    while (events === undefined && !isIdle && this.#phase.name === "open") {
      const input = mayRead ? inputOf(entries.take(), filter) : IDLE;
      isIdle = input.type === "idle";
      if (input.type === "existing") {
        pieces += 1;
        mayRead = pieces < PIECES_PER_READ && this.#options.parts.loop.elapsed() < endAt;
      }
      events = this.#step(input);
    }
    if (!mayRead && events === undefined) this.#readLater();
    if (events !== undefined) counted.sent(events.length);
    else if (this.#phase.name === "closed") return "end";
    return events;
  }

  #readLater(): void {
    this.#options.parts.loop.post("request", () => this.#notify());
  }

  /** Handles an input that comes between two reads, and tells the client's side to read. */
  #happened(input: WatchInput): void {
    const notify = this.#notify;
    this.#step(input);
    notify();
  }

  #step(input: WatchInput): readonly WatchEventAnswer[] | undefined {
    const phase = this.#phase;
    if (phase.name !== "open") return undefined;
    const before = phase.state;
    const { state, events } = step(before, input, this.#options.rules);
    phase.state = state;
    if (state.name === "over") this.close();
    else if (state.name !== before.name) this.#options.call.notes.begun();
    return events;
  }

  #failed(error: unknown): Taken {
    if (isStoreError(error, "SlowWatcher") && this.#phase.name === "open") this.#phase.open.counted.tooSlow();
    this.close();
    // The client retries from the last revision that it saw and misses nothing.
    const isOver = isStoreError(error, "SlowWatcher") || isStoreError(error, "Closed");
    return isOver ? "end" : [this.#failure(error)];
  }

  #failure(error: unknown): WatchEventAnswer {
    const { call, rules } = this.#options;
    const shown = isStoreError(error, "Compacted")
      ? expired(tooOld(rules.after, error.floor))
      : toApiError(error, groupResource(call.resource), call.info.name);
    return { type: "ERROR", status: toStatus(shown) };
  }
}

function inputOf(item: WatchItem | "end" | undefined, filter: ObjectFilter | undefined): WatchInput {
  if (item === undefined) return IDLE;
  if (item === "end") return { type: "ended" };
  switch (item.type) {
    case "existing":
      return { type: "existing", events: eventsOfExisting(item.entries, filter) };
    case "caught up":
      return item;
    case "changes":
      return { type: "changes", events: eventsOfChanges(item.events, filter) };
  }
}

function tooOld(after: number, oldest: number | undefined): string {
  const kept = oldest === undefined ? "" : ` (${String(oldest)})`;
  return `too old resource version: ${String(after)}${kept}`;
}

/** Listener before `whenReady` sets one. */
function noListener(): void {
  // `take` looks for events itself.
}
