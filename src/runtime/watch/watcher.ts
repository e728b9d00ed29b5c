/**
 * Follows all objects of a kind, for ever: reads the state, follows the changes, resumes where it was cut, reads the state again when
 * the server no longer knows that place. What it delivers never goes back in time, misses nothing and repeats nothing, whatever the
 * connection does. Its rules are in `watcher-step.ts`; here they are carried out.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Transport, TransportEvent, TransportStream } from "../../client/transport.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import { WatcherAttempt } from "./watcher-attempt.ts";
import type { WatcherEvent } from "./watcher-event.ts";
import { eventsInput, failureInput, openingInput, pageInput } from "./watcher-input.ts";
import type { Shape } from "./watcher-input.ts";
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

/** Servers answer requests within this or not at all. */
const ANSWER_PATIENCE_MS = 60_000;
/** The next of the initial events, or their end. */
const INITIAL_PATIENCE_MS = 30_000;
/** Servers send a bookmark each minute: one and a half of that without anything is a connection that leads nowhere. */
const PROGRESS_PATIENCE_MS = 90_000;

export interface WatcherOptions extends WatcherScope {
  readonly transport: Transport;
  /** A child of its own. */
  readonly loop: Loop;
  readonly log: Log;
  /** How objects are kept; as they come unless given. */
  readonly shape?: Shape;
  /** Told of each new state, after what led to it was delivered. */
  readonly onState?: (state: WatcherState["name"]) => void;
}

type FollowingState = InitialState | WatchingState;

export class Watcher<T extends ApiObject> {
  readonly #options: WatcherOptions;
  readonly #loop: Loop;
  readonly #log: Log;
  readonly #shape: Shape;
  #deliver: (event: WatcherEvent<T>) => void = () => undefined;
  #signal = AbortSignal.abort();
  #heardAt: number;
  /** That of the last run is where another one goes on from. */
  #state: WatcherState = firstState();

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#loop = options.loop;
    this.#log = options.log.with({ watcher: scopeText(options) });
    this.#shape = options.shape ?? ((object) => object);
    this.#heardAt = options.loop.elapsed();
  }

  /** When the server was last known to be there (`Loop.elapsed`): it sent something, or opened a watch that lived for a while. */
  get heardAt(): number {
    return Math.max(this.#heardAt, livelyAt(this.#state, this.#loop.elapsed()));
  }

  /** Whether it follows: there is nothing new of which it is not told. */
  get isOpen(): boolean {
    return isOpenAt(this.#state, this.#loop.elapsed());
  }

  /** Until the signal is aborted. Never rejects for anything a server or a network does. */
  async run(deliver: (event: WatcherEvent<T>) => void, signal: AbortSignal): Promise<void> {
    this.#deliver = deliver;
    this.#signal = signal;
    this.#heardAt = this.#loop.elapsed();
    this.#state = firstState(positionOf(this.#state));
    this.#options.onState?.(this.#state.name);
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
    const attempt = new WatcherAttempt(this.#loop, this.#signal, ANSWER_PATIENCE_MS);
    try {
      const request = listRequest(this.#options, state, attempt.signal);
      const input = await this.#options.transport.send(request).then(
        (response) => pageInput(response, this.#shape),
        (error: unknown) => inputOf(error, attempt),
      );
      this.#step(state, input);
    } finally {
      attempt.end();
    }
  }

  async #follow(state: FollowingState): Promise<void> {
    const attempt = new WatcherAttempt(this.#loop, this.#signal, ANSWER_PATIENCE_MS);
    try {
      const random = this.#loop.random("watch-duration");
      const request = watchRequest(this.#options, state, { signal: attempt.signal, random });
      const stream = await this.#options.transport
        .watch(request)
        .catch((error: unknown) => inputOf(error, attempt));
      const opened = this.#step(state, "type" in stream ? stream : openingInput(stream));
      if (isFollowing(opened) && !("type" in stream)) await this.#read(opened, stream, attempt);
    } finally {
      attempt.end();
    }
  }

  /** Until the stream ends, or the state has no more use for it. */
  async #read(
    opened: FollowingState,
    stream: TransportStream<readonly TransportEvent[]>,
    attempt: WatcherAttempt,
  ): Promise<void> {
    const batches = stream.items[Symbol.asyncIterator]();
    let state: FollowingState = opened;
    for (;;) {
      attempt.heard(state.name === "initial" ? INITIAL_PATIENCE_MS : PROGRESS_PATIENCE_MS);
      const input = await this.#next(batches, attempt);
      const next = this.#step(state, input);
      if (input.type !== "events") return;
      if (!isFollowing(next) || this.#signal.aborted) {
        attempt.end();
        await left(batches);
        return;
      }
      state = next;
    }
  }

  #next(batches: AsyncIterator<readonly TransportEvent[]>, attempt: WatcherAttempt): Promise<WatcherInput> {
    return batches.next().then(
      (result): WatcherInput => {
        if (result.done !== true) return eventsInput(result.value, this.#shape);
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
        this.#step(state, { type: "woken" });
        resolve();
      };
      const timer = this.#loop.timer(this.#loop.now() + state.waitMs, state.timer, woken);
      call.signal.addEventListener("abort", woken, { once: true });
    });
  }

  /** What follows is delivered before the new state counts. Nothing happens any more once the signal is aborted. */
  #step(state: WatcherState, input: WatcherInput): WatcherState {
    if (this.#signal.aborted) return state;
    const at = this.#loop.elapsed();
    const { state: next, deliver } = step(state, input, { at, random: this.#loop.random("backoff") });
    if (input.type === "page" || input.type === "events") this.#heardAt = at;
    else this.#heardAt = Math.max(this.#heardAt, livelyAt(state, at));
    for (const event of deliver) {
      this.#reportSetBack(state, event);
      this.#deliver(event as WatcherEvent<T>);
    }
    if (next.name === "waiting" && next !== state)
      this.#log.warn("watch failed, tries again", { why: next.why, waitMs: Math.round(next.waitMs) });
    if (next.name !== state.name) this.#options.onState?.(next.name);
    this.#state = next;
    return next;
  }

  #reportSetBack(state: WatcherState, { type, resourceVersion: version }: WatcherEvent<ApiObject>): void {
    const position = positionOf(state);
    if (type !== "reset" || position === undefined) return;
    const before = newestVersion(position);
    if (orderOfVersions(version, before) === "older")
      this.#log.error("the server's store was set back: its state is taken as it is", {
        before,
        now: version,
      });
  }
}

function positionOf(state: WatcherState): Position | undefined {
  return state.name === "waiting" ? state.next.position : state.position;
}

function isFollowing(state: WatcherState): state is FollowingState {
  return state.name === "initial" || state.name === "watching";
}

/** When a watch was opened that has lived for a while by now: servers that send no bookmarks give no other sign of life. */
function livelyAt(state: WatcherState, at: number): number {
  return isOpenAt(state, at) ? state.openedAt : 0;
}

function isOpenAt(state: WatcherState, at: number): state is WatchingState & { readonly openedAt: number } {
  return state.name === "watching" && isHealthy(state, at);
}

function inputOf(error: unknown, attempt: WatcherAttempt): WatcherInput {
  return attempt.isSilent ? { type: "silent" } : failureInput(error);
}

/** A stream that cannot be closed in order is closed all the same. */
async function left(batches: AsyncIterator<unknown>): Promise<void> {
  await batches.return?.().catch(() => undefined);
}
