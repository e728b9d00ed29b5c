/**
 * Watches all objects of a kind until stopped. It reads the state, follows the changes and resumes after a break. When
 * the server no longer knows its position, it reads the state again. The delivered events never go back in time, miss
 * nothing and repeat nothing. `watcher-step.ts` has the rules; this file executes them.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import { SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { MaybePromise } from "../../base/loop/maybe-promise.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Transport, TransportEvent, TransportStream } from "../../client/transport.ts";
import type { RequestFailure } from "../obstacle/obstacle.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import { WatcherAttempt } from "./watcher-attempt.ts";
import type { WatcherEvent } from "./watcher-event.ts";
import { eventsInput, failureInput, openingInput, pageInput } from "./watcher-input.ts";
import type { Transform } from "./watcher-input.ts";
import { newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";
import { listRequest, scopeText, watchRequest } from "./watcher-scope.ts";
import type { WatcherScope } from "./watcher-scope.ts";
import { firstState } from "./watcher-state.ts";
import type {
  InitialState,
  ListingState,
  WaitingState,
  WatcherInput,
  WatcherState,
  WatchingState,
} from "./watcher-state.ts";
import { isHealthy, step } from "./watcher-step.ts";

/** Upper bound of the wait for a response. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Upper bound of the wait for the next initial event, or for their end. */
const INITIAL_TIMEOUT_MS = 30_000;
/**
 * Upper bound of the wait for an event: servers send a bookmark each minute, so 90 s of silence mean a dead
 * connection.
 */
const PROGRESS_TIMEOUT_MS = 90_000;

export interface WatcherOptions extends WatcherScope {
  readonly transport: Transport;
  /** The watcher's own child of a loop. */
  readonly loop: Loop;
  readonly log: Log;
  /** Form in which objects are kept. Default: unchanged. */
  readonly transform?: Transform;
  /** Called with each new state, after the events that led to it were delivered. */
  readonly onState?: (state: WatcherState) => void;
  /** Called when the server has accepted a watch. */
  readonly onOpen?: () => void;
  /**
   * Called with each failure, and with undefined once the server answers again. True: the caller has explained the
   * failure, so that the watcher need not warn of it.
   */
  readonly onFailure?: (failure: RequestFailure | undefined) => boolean;
}

type FollowingState = InitialState | WatchingState;

/** Takes over an event. The watcher reads on once the promise has resolved. */
export type Delivery<T> = (event: WatcherEvent<T>) => MaybePromise<void>;

export class Watcher<T extends ApiObject> {
  readonly #options: WatcherOptions;
  readonly #loop: Loop;
  readonly #log: Log;
  readonly #transform: Transform;
  #deliver: Delivery<T> = () => undefined;
  #signal = AbortSignal.abort();
  #lastContactAt: number;
  #hasFailed = false;
  /** Kept between runs: the next run resumes at its position. */
  #state: WatcherState = firstState();

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#loop = options.loop;
    this.#log = options.log.with({ watcher: scopeText(options) });
    this.#transform = options.transform ?? ((object) => object);
    this.#lastContactAt = options.loop.elapsed();
  }

  /** Elapsed time of the last sign of life: the server sent something, or opened a watch that is healthy by now. */
  get lastContactAt(): number {
    return Math.max(this.#lastContactAt, healthySince(this.#state, this.#loop.elapsed()));
  }

  /** True while a healthy watch is open: every change arrives. */
  get isOpen(): boolean {
    return isOpenAt(this.#state, this.#loop.elapsed());
  }

  /** Watches until the signal is aborted. Errors of the server or the network never reject. */
  async run(deliver: Delivery<T>, signal: AbortSignal): Promise<void> {
    this.#deliver = deliver;
    this.#signal = signal;
    this.#lastContactAt = this.#loop.elapsed();
    this.#state = firstState(positionOf(this.#state));
    this.#options.onState?.(this.#state);
    while (!signal.aborted) await this.#perform(this.#state);
  }

  #perform(state: WatcherState): Promise<void> {
    switch (state.name) {
      case "listing":
        return this.#list(state);
      case "initial":
      case "watching":
        return this.#follow(state);
      case "waiting":
        return this.#wait(state);
    }
  }

  async #list(state: ListingState): Promise<void> {
    const attempt = new WatcherAttempt(this.#loop, this.#signal, RESPONSE_TIMEOUT_MS);
    try {
      const request = listRequest(this.#options, state, attempt.signal);
      const input = await this.#options.transport.send(request).then(
        (response) => pageInput(response, this.#transform),
        (error: unknown) => inputOf(error, attempt),
      );
      await this.#step(state, input);
    } finally {
      attempt.end();
    }
  }

  async #follow(state: FollowingState): Promise<void> {
    const attempt = new WatcherAttempt(this.#loop, this.#signal, RESPONSE_TIMEOUT_MS);
    try {
      const random = this.#loop.random("watch-duration");
      const request = watchRequest(this.#options, state, { signal: attempt.signal, random });
      const stream = await this.#options.transport
        .watch(request)
        .catch((error: unknown) => inputOf(error, attempt));
      const opened = await this.#step(state, "type" in stream ? stream : openingInput(stream));
      if (!isFollowing(opened) || "type" in stream) return;
      this.#options.onOpen?.();
      await this.#read(opened, stream, attempt);
    } finally {
      attempt.end();
    }
  }

  /** Reads until the stream ends or the state no longer needs it. */
  async #read(
    opened: FollowingState,
    stream: TransportStream<readonly TransportEvent[]>,
    attempt: WatcherAttempt,
  ): Promise<void> {
    const batches = stream.items[Symbol.asyncIterator]();
    let state: FollowingState = opened;
    let eventsOfStep = 0;
    for (;;) {
      attempt.extend(state.name === "initial" ? INITIAL_TIMEOUT_MS : PROGRESS_TIMEOUT_MS);
      const input = await this.#next(batches, attempt);
      const next = await this.#step(state, input);
      if (input.type !== "events") return;
      if (!isFollowing(next) || this.#signal.aborted) {
        attempt.end();
        await closeStream(batches);
        return;
      }
      state = next;
      eventsOfStep += input.events.length;
      if (eventsOfStep < SLICE_ITEMS) continue;
      eventsOfStep = 0;
      await this.#nextStep();
    }
  }

  /** Lets others run: events that wait already would otherwise all be read in this step. */
  #nextStep(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("loop", resolve));
  }

  #next(batches: AsyncIterator<readonly TransportEvent[]>, attempt: WatcherAttempt): Promise<WatcherInput> {
    return batches.next().then(
      (result): WatcherInput => {
        if (result.done !== true) return eventsInput(result.value, this.#transform);
        return attempt.isSilent ? { type: "silent" } : { type: "ended" };
      },
      (error: unknown) => inputOf(error, attempt),
    );
  }

  #wait(state: WaitingState): Promise<void> {
    const call = endableSignal([this.#signal]);
    return new Promise((resolve) => {
      const woken = (): void => {
        timer.cancel();
        call.release();
        void this.#step(state, { type: "woken" }).then(() => resolve());
      };
      const timer = this.#loop.timer(this.#loop.now() + state.waitMs, state.timer, woken);
      call.signal.addEventListener("abort", woken, { once: true });
    });
  }

  /** Delivers the events of a step, then takes over the new state. No-op once the signal is aborted. */
  async #step(state: WatcherState, input: WatcherInput): Promise<WatcherState> {
    if (this.#signal.aborted) return state;
    const at = this.#loop.elapsed();
    const { state: next, deliver } = step(state, input, { at, random: this.#loop.random("backoff") });
    if (input.type === "page" || input.type === "events") this.#lastContactAt = at;
    else this.#lastContactAt = Math.max(this.#lastContactAt, healthySince(state, at));
    for (const event of deliver) {
      this.#reportRestore(state, event);
      const delivered = this.#deliver(event as WatcherEvent<T>);
      if (delivered !== undefined) await delivered;
    }
    const isExplained = this.#noteFailure(input);
    if (next.name === "waiting" && next !== state)
      this.#log[isExplained ? "debug" : "warn"]("the watch failed and is retried", {
        why: next.why,
        waitMs: Math.round(next.waitMs),
      });
    if (next.name !== state.name) this.#options.onState?.(next);
    this.#state = next;
    return next;
  }

  #noteFailure(input: WatcherInput): boolean {
    const failure = findFailure(input);
    const isAnswer = input.type === "opened" || input.type === "page" || input.type === "events";
    if (failure === undefined && !(isAnswer && this.#hasFailed)) return false;
    this.#hasFailed = failure !== undefined;
    return this.#options.onFailure?.(failure) ?? false;
  }

  #reportRestore(state: WatcherState, { type, resourceVersion: version }: WatcherEvent<ApiObject>): void {
    const position = positionOf(state);
    if (type !== "reset" || position === undefined) return;
    const before = newestVersion(position);
    if (orderOfVersions(version, before) === "older")
      this.#log.error("the server's store was set back; the cache takes over its older state", {
        before,
        now: version,
      });
  }
}

function findFailure(input: WatcherInput): RequestFailure | undefined {
  if (input.type === "refused") return { code: input.refusal.code, message: input.refusal.message };
  if (input.type === "broken") return { code: undefined, message: input.why };
  return undefined;
}

function positionOf(state: WatcherState): Position | undefined {
  return state.name === "waiting" ? state.next.position : state.position;
}

function isFollowing(state: WatcherState): state is FollowingState {
  return state.name === "initial" || state.name === "watching";
}

/**
 * When the current healthy watch was opened; 0 without one. Servers that send no bookmarks give no other sign of
 * life.
 */
function healthySince(state: WatcherState, at: number): number {
  return isOpenAt(state, at) ? state.openedAt : 0;
}

function isOpenAt(state: WatcherState, at: number): state is WatchingState & { readonly openedAt: number } {
  return state.name === "watching" && isHealthy(state, at);
}

function inputOf(error: unknown, attempt: WatcherAttempt): WatcherInput {
  return attempt.isSilent ? { type: "silent" } : failureInput(error);
}

/** Closes the stream and ignores errors of closing. */
async function closeStream(batches: AsyncIterator<unknown>): Promise<void> {
  await batches.return?.().catch(() => undefined);
}
