/**
 * Lets watchers that were just served wait a moment, so that what happens meanwhile reaches each in one piece: a write to a socket costs
 * several times as much as an event. A watcher that was quiet is served at once.
 */
import type { Loop } from "../../base/loop.ts";
import { joined, PIECE_BYTES } from "./bytes/pieces.ts";

/** A quarter of the delay that the last event of a hundred may have. */
const MOMENT_MS = 5;
/** A few times what it takes to serve one watcher: the more there are, the longer they wait, so that time is left for changes. */
const MOMENT_MS_PER_WATCHER = 0.04;
/** Half of the delay that the last event of a hundred may have. */
const MOMENT_MS_MAX = 10;
/** As many groups of watchers, alike in what they see and in which form, share what they get. */
const GATHERED_KEPT = 8;
/** What such a group shares at a time; who has more to get is so far behind that few are with it. */
const GATHERED_BYTES_MAX = 16 * PIECE_BYTES;

interface Gathered {
  readonly frames: readonly Uint8Array[];
  readonly pieces: readonly Uint8Array[];
}

export class Gathering {
  readonly #loop: Loop;
  /** Shared by all who wait. */
  #moment: Promise<void> | undefined;
  /** How many these are. */
  #waiting = 0;
  /** The newest last. */
  readonly #gathered: Gathered[] = [];

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Settles when the moment is over that has begun, or that begins now. */
  moment(): Promise<void> {
    this.#waiting += 1;
    this.#moment ??= new Promise((resolve) => this.#wait(MOMENT_MS, resolve));
    return this.#moment;
  }

  /** Ends a moment that has lasted so long, or lets it go on when there are many who wait. */
  #wait(untilMs: number, end: () => void, sinceMs = 0): void {
    this.#loop.timer(this.#loop.now() + untilMs - sinceMs, "progress", () => {
      const wantedMs = Math.min(this.#waiting * MOMENT_MS_PER_WATCHER, MOMENT_MS_MAX);
      if (wantedMs > untilMs) return this.#wait(wantedMs, end, untilMs);
      this.#moment = undefined;
      this.#waiting = 0;
      return end();
    });
  }

  /** Pieces of them all, the same for everybody who has the same frames; undefined when they would take too much memory. */
  join(frames: readonly Uint8Array[]): readonly Uint8Array[] | undefined {
    const found = this.#gathered.find((each) => isSame(each.frames, frames));
    if (found !== undefined) return found.pieces;
    let bytes = 0;
    for (const frame of frames) bytes += frame.byteLength;
    if (bytes > GATHERED_BYTES_MAX) return undefined;
    const pieces = [...joined(frames)];
    if (this.#gathered.push({ frames, pieces }) > GATHERED_KEPT) this.#gathered.shift();
    return pieces;
  }
}

function isSame(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && left.every((frame, at) => frame === right[at]);
}
