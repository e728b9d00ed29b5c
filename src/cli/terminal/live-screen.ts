/** Draws a picture that changes: at most so many frames a second, and none when nothing has changed. */
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { Frame, ScreenSize } from "./frame.ts";
import { paint } from "./paint.ts";
import type { ColourDepth } from "./style.ts";
import type { FullScreen } from "./terminal.ts";

/** Twenty frames a second. */
const FRAME_MS = 50;

export interface LiveScreenParts {
  readonly screen: FullScreen;
  readonly loop: Loop;
  readonly depth: ColourDepth;
  readonly draw: (size: ScreenSize) => Frame;
}

export class LiveScreen {
  readonly #parts: LiveScreenParts;
  #shown: Frame | undefined;
  #timer: Timer | undefined;
  #drawnAt = -Infinity;
  /** The terminal has not taken the last frame yet, for example over a slow line. */
  #isWriting = false;
  #isStale = false;
  #isClosed = false;

  constructor(parts: LiveScreenParts) {
    this.#parts = parts;
  }

  /** Draws soon. Calls until then are one. */
  refresh(): void {
    this.#isStale = true;
    if (this.#timer !== undefined || this.#isWriting || this.#isClosed) return;
    const { loop } = this.#parts;
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - loop.elapsed());
    this.#timer = loop.timer(loop.now() + wait, "periodic", () => this.#draw());
  }

  /** Draws all cells anew: the terminal may show something else. */
  redraw(): void {
    this.#shown = undefined;
    this.refresh();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #draw(): void {
    const { screen, loop, depth, draw } = this.#parts;
    this.#timer = undefined;
    this.#isStale = false;
    this.#drawnAt = loop.elapsed();
    const frame = draw(screen.size);
    const text = paint(this.#shown, frame, depth);
    this.#shown = frame;
    if (text === "") return;
    this.#isWriting = true;
    void screen.write(text).then(() => {
      this.#isWriting = false;
      if (this.#isStale) this.refresh();
    });
  }
}
