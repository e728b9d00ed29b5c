/** Writes an answer no faster than the client takes it. */
import type { Writable } from "node:stream";
import type { Loop, Timer } from "../../base/loop.ts";

/**
 * Most that is handed over in one write. Larger ones keep everybody else waiting while they are encrypted (a list of
 * 21 MB in one piece: 70 ms), smaller ones cost more per byte.
 */
export const PIECE_BYTES = 64 * 1024;

export interface OutflowOptions {
  readonly out: Writable;
  readonly loop: Loop;
  readonly stallTimeoutMs: number;
  /** Called once the client took nothing for so long. */
  readonly onStalled: () => void;
}

/** At most one piece, and what the stream buffers of its own (16 KiB), waits in memory. */
export class Outflow {
  readonly #options: OutflowOptions;
  #state: "open" | "stopped" = "open";
  /** Set while the client takes nothing. */
  #wake: (() => void) | undefined;
  /** Since when (Loop.elapsed) it takes nothing; of meaning while somebody waits. */
  #waitingSince = 0;
  /** One for many waits, which mostly end at once: it looks how long the one has lasted that it finds. */
  #alarm: Timer | undefined;

  constructor(options: OutflowOptions) {
    this.#options = options;
    options.out.on("drain", () => this.#wake?.());
  }

  /** Undefined when everything was taken at once, which it mostly is; else settles when there is room again or after `stop`. */
  send(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.byteLength > PIECE_BYTES) return this.#sendInPieces(bytes);
    return this.#write(bytes) ? undefined : this.#drained();
  }

  /** Nothing is written any more and nobody waits. To be called at the end, whatever the end was. */
  stop(): void {
    this.#state = "stopped";
    this.#alarm?.cancel();
    this.#wake?.();
  }

  async #sendInPieces(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength && this.#state === "open"; at += PIECE_BYTES) {
      if (!this.#write(bytes.subarray(at, at + PIECE_BYTES))) await this.#drained();
    }
  }

  /** An empty write would end nothing and say nothing, but cost a frame. */
  #write(piece: Uint8Array): boolean {
    if (this.#state === "stopped" || piece.byteLength === 0) return true;
    return this.#options.out.write(piece);
  }

  #drained(): Promise<void> {
    const { loop, stallTimeoutMs } = this.#options;
    this.#waitingSince = loop.elapsed();
    if (this.#alarm === undefined) this.#setAlarm(stallTimeoutMs);
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #setAlarm(afterMs: number): void {
    const { loop } = this.#options;
    this.#alarm = loop.timer(loop.now() + afterMs, "periodic", () => this.#look());
  }

  #look(): void {
    const { loop, stallTimeoutMs, onStalled } = this.#options;
    this.#alarm = undefined;
    if (this.#wake === undefined) return;
    const leftMs = this.#waitingSince + stallTimeoutMs - loop.elapsed();
    if (leftMs <= 0) onStalled();
    else this.#setAlarm(leftMs);
  }
}
