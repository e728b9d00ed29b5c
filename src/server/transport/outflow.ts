/** Writes a response no faster than the client reads it. */
import type { EventEmitter } from "node:events";
import type { Loop, Timer } from "../../base/loop/loop.ts";

/**
 * Largest write. Larger ones block other requests during encryption: a list of 21 MB in one piece took 70 ms. Smaller
 * ones cost more per byte.
 */
export const PIECE_BYTES = 64 * 1024;

export interface PieceSink {
  /** Sends a piece. False when there is no room for more until `drains` says "drain". */
  write(piece: Uint8Array): boolean;
  readonly drains: EventEmitter;
}

export interface OutflowOptions {
  readonly out: PieceSink;
  readonly loop: Loop;
  readonly stallTimeoutMs: number;
  /** Called once the client has read nothing for `stallTimeoutMs`. */
  readonly onStalled: () => void;
  /** Called when there is room again. */
  readonly onRoom: () => void;
}

/** Keeps at most one piece in memory, beside the stream's own buffer (16 KiB). */
export class Outflow {
  readonly #options: OutflowOptions;
  #state: "open" | "full" | "stopped" = "open";
  /** Unwritten rest of a piece that is too large for one write. */
  #rest: Uint8Array | undefined;
  /** Time (`Loop.elapsed`) since which the client reads nothing; valid only while full. */
  #fullSince = 0;
  /** One timer serves many waits, which are mostly short: it checks how long the current one has lasted. */
  #alarm: Timer | undefined;
  readonly #onDrain = (): void => this.#drained();

  constructor(options: OutflowOptions) {
    this.#options = options;
    options.out.drains.on("drain", this.#onDrain);
  }

  /** False when there is no room for more until `onRoom`. */
  send(bytes: Uint8Array): boolean {
    this.#rest = bytes;
    return this.#pour();
  }

  /** Writes nothing more. Must be called at the end, also after an error. */
  stop(): void {
    this.#state = "stopped";
    this.#rest = undefined;
    this.#alarm?.cancel();
    this.#options.out.drains.off("drain", this.#onDrain);
  }

  #pour(): boolean {
    while (this.#state === "open" && this.#rest !== undefined) {
      const bytes = this.#rest;
      const isLast = bytes.byteLength <= PIECE_BYTES;
      this.#rest = isLast ? undefined : bytes.subarray(PIECE_BYTES);
      this.#write(isLast ? bytes : bytes.subarray(0, PIECE_BYTES));
    }
    return this.#state === "open";
  }

  /** Skips empty pieces: an empty write has no effect but costs a frame. */
  #write(piece: Uint8Array): void {
    const { out, loop, stallTimeoutMs } = this.#options;
    if (piece.byteLength === 0 || out.write(piece)) return;
    this.#state = "full";
    this.#fullSince = loop.elapsed();
    if (this.#alarm === undefined) this.#setAlarm(stallTimeoutMs);
  }

  #drained(): void {
    if (this.#state !== "full") return;
    this.#state = "open";
    if (this.#pour()) this.#options.onRoom();
  }

  #setAlarm(afterMs: number): void {
    const { loop } = this.#options;
    this.#alarm = loop.timer(loop.now() + afterMs, "periodic", () => this.#look());
  }

  #look(): void {
    const { loop, stallTimeoutMs, onStalled } = this.#options;
    this.#alarm = undefined;
    if (this.#state !== "full") return;
    const leftMs = this.#fullSince + stallTimeoutMs - loop.elapsed();
    if (leftMs <= 0) onStalled();
    else this.#setAlarm(leftMs);
  }
}
