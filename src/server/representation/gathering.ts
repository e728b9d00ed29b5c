/**
 * Lets watchers that were just served wait a moment, so that what happens meanwhile reaches each in one piece: a write to a socket costs
 * several times as much as an event. A watcher that was quiet is served at once.
 */
import type { Loop } from "../../base/loop.ts";
import { PIECE_BYTES } from "./bytes/pieces.ts";

/** A quarter of the delay that the last event of a hundred may have. */
const MOMENT_MS = 5;
/** As many groups of watchers, alike in what they see and in which form, share what they get. */
const PIECES_KEPT = 8;

interface Piece {
  readonly frames: readonly Uint8Array[];
  readonly bytes: Uint8Array;
}

export class Gathering {
  readonly #loop: Loop;
  /** Shared by all who wait. */
  #moment: Promise<void> | undefined;
  /** The newest last. */
  readonly #pieces: Piece[] = [];

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Settles when the moment is over that has begun, or that begins now. */
  moment(): Promise<void> {
    this.#moment ??= new Promise((resolve) => {
      this.#loop.timer(this.#loop.now() + MOMENT_MS, "progress", () => {
        this.#moment = undefined;
        resolve();
      });
    });
    return this.#moment;
  }

  /** One piece of them all, the same for everybody who has the same frames; undefined when it would be too large. */
  join(frames: readonly Uint8Array[]): Uint8Array | undefined {
    const found = this.#pieces.find((piece) => isSame(piece.frames, frames));
    if (found !== undefined) return found.bytes;
    let length = 0;
    for (const frame of frames) length += frame.byteLength;
    if (length > PIECE_BYTES) return undefined;
    const bytes = Buffer.concat(frames, length);
    if (this.#pieces.push({ frames, bytes }) > PIECES_KEPT) this.#pieces.shift();
    return bytes;
  }
}

function isSame(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && left.every((frame, at) => frame === right[at]);
}
