/**
 * Receives the body of a request within three bounds: its length, its duration, and the bytes of all bodies in flight.
 */
import type { Readable } from "node:stream";
import { badRequest, requestEntityTooLarge, timeout, tooManyRequests } from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";

const EMPTY = new Uint8Array(0);

/**
 * A body older than this is aborted when other bodies need the budget. A nearby client sends the largest body in a
 * tenth of it.
 */
const PATIENCE_MS = 2000;

/** A body that is being received. */
interface Holder {
  /** Time of the start, by `Loop.elapsed`. */
  readonly since: number;
  /** Aborts the reception; the client has to retry the request. */
  cut(): void;
}

/** Bytes of bodies that are being received, over all connections of a listener. */
export class BodyBudget {
  #freeBytes: number;
  /** Incomplete bodies in the order in which they started. */
  readonly #holders = new Set<Holder>();

  constructor(maxBytes: number) {
    this.#freeBytes = maxBytes;
  }

  /** False when too few bytes are left; then nothing is taken. */
  take(bytes: number): boolean {
    if (bytes > this.#freeBytes) return false;
    this.#freeBytes -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#freeBytes += bytes;
  }

  /** Marks a body as incomplete. Idempotent. */
  enter(holder: Holder): void {
    this.#holders.add(holder);
  }

  leave(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /**
   * Takes bytes, and first aborts bodies older than `PATIENCE_MS` for them. So slow senders cannot block other clients.
   */
  takeFromOthers(bytes: number, taker: Holder, now: number): boolean {
    for (const holder of this.#holders) {
      if (bytes <= this.#freeBytes || now - holder.since < PATIENCE_MS) break;
      if (holder !== taker) holder.cut();
    }
    return this.take(bytes);
  }
}

export interface BodySource {
  readonly incoming: Readable;
  /** `content-length` of the request, if it has one. */
  readonly announcedBytes: number | undefined;
  /** Whether the stream ended where the client meant it to end. */
  isWhole(): boolean;
}

export interface BodyBounds {
  readonly loop: Loop;
  readonly budget: BodyBudget;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Resolves with the whole body. Rejects with an ApiError as soon as a bound is crossed or the client disconnects. Bytes
 * received until then are dropped; the rest stays unread.
 *
 * The budget counts received bytes, not announced ones: a client has to send bytes to block others.
 */
export function receiveBody(source: BodySource, bounds: BodyBounds): Promise<Uint8Array> {
  if ((source.announcedBytes ?? 0) > bounds.maxBytes) return Promise.reject(tooLarge(bounds));
  if (source.announcedBytes === 0) return Promise.resolve(EMPTY);
  // The stream ended unread, so the body is empty: unread bytes would have delayed the end.
  if (source.incoming.readableEnded)
    return source.isWhole() ? Promise.resolve(EMPTY) : Promise.reject(brokenOff());
  return new Promise((resolve, reject) => {
    new Reception(source, bounds).start(resolve, reject);
  });
}

class Reception implements Holder {
  readonly since: number;
  readonly #source: BodySource;
  readonly #bounds: BodyBounds;
  readonly #chunks: Uint8Array[] = [];
  #receivedBytes = 0;
  #fail: ((error: Error) => void) | undefined;

  constructor(source: BodySource, bounds: BodyBounds) {
    this.#source = source;
    this.#bounds = bounds;
    this.since = bounds.loop.elapsed();
  }

  cut(): void {
    this.#fail?.(noRoom());
  }

  start(resolve: (body: Uint8Array) => void, reject: (error: Error) => void): void {
    const { incoming } = this.#source;
    const { loop, budget, timeoutMs } = this.#bounds;
    const stop = (): void => {
      late.cancel();
      incoming.pause();
      incoming.off("data", onData).off("end", onEnd).off("close", onClose);
      // The error handler stays, because the connection may still break. A second stop is a no-op.
      budget.giveBack(this.#receivedBytes);
      budget.leave(this);
      this.#receivedBytes = 0;
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    this.#fail = fail;
    const onData = (chunk: Uint8Array): void => {
      const error = this.#add(chunk);
      if (error !== undefined) fail(error);
    };
    const onEnd = (): void => {
      if (!this.#source.isWhole()) return fail(brokenOff());
      stop();
      return resolve(this.#joined());
    };
    const onClose = (): void => fail(brokenOff());
    const late = loop.timer(loop.now() + timeoutMs, "periodic", () =>
      fail(timeout("the body of the request did not arrive in time", 1)),
    );
    incoming.on("data", onData).on("end", onEnd).on("close", onClose);
    incoming.on("error", (cause) => fail(brokenOff(cause)));
    incoming.resume();
    if (incoming.destroyed) fail(brokenOff());
  }

  #add(chunk: Uint8Array): Error | undefined {
    if (this.#receivedBytes + chunk.byteLength > this.#bounds.maxBytes) return tooLarge(this.#bounds);
    const { budget, loop } = this.#bounds;
    const { byteLength: bytes } = chunk;
    if (!budget.take(bytes) && !budget.takeFromOthers(bytes, this, loop.elapsed())) return noRoom();
    this.#receivedBytes += bytes;
    this.#chunks.push(chunk);
    // Most bodies arrive in one chunk and skip the set. Membership keeps a body in memory until V8's next full
    // collection.
    if (this.#receivedBytes !== this.#source.announcedBytes) budget.enter(this);
    return undefined;
  }

  #joined(): Uint8Array {
    const [first = EMPTY, ...more] = this.#chunks;
    return more.length === 0 ? first : Buffer.concat(this.#chunks);
  }
}

function noRoom(): Error {
  return tooManyRequests("too many bytes are being received at once, please try again later", 1);
}

function tooLarge({ maxBytes }: BodyBounds): Error {
  return requestEntityTooLarge(`limit is ${String(maxBytes)}`);
}

function brokenOff(cause?: Error): Error {
  return badRequest("the body of the request broke off before its end", cause === undefined ? {} : { cause });
}
