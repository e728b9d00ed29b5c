/** A command on the whole terminal: keys come in, frames go out, and the terminal is as before at the end. */
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Frame, ScreenSize } from "./frame.ts";
import { KeyReader, type Key } from "./key-reader.ts";
import { LiveScreen } from "./live-screen.ts";
import type { ColourDepth } from "./style.ts";
import type { FullScreen } from "./terminal.ts";

/** Bytes of a key sequence arrive together; an escape that stays alone this long is the key Escape. */
const ESCAPE_MS = 40;

export interface ScreenRunParts {
  readonly screen: FullScreen;
  readonly loop: Loop;
  readonly depth: ColourDepth;
  readonly draw: (size: ScreenSize) => Frame;
  /** Ctrl-C, Ctrl-Z and Ctrl-L are handled already. */
  readonly onKey: (key: Key) => void;
}

export class ScreenRun {
  readonly #parts: ScreenRunParts;
  readonly #live: LiveScreen;
  readonly #keys = new KeyReader();
  readonly #ending = new AbortController();
  #escape: Timer | undefined;

  constructor(parts: ScreenRunParts) {
    this.#parts = parts;
    this.#live = new LiveScreen(parts);
  }

  get size(): ScreenSize {
    return this.#parts.screen.size;
  }

  /** Draws soon. */
  refresh(): void {
    this.#live.refresh();
  }

  quit(): void {
    this.#ending.abort();
  }

  /** Runs `work` until it has ended, the user quits or the signal is aborted. */
  async run(work: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { screen } = this.#parts;
    const end = (): void => {
      this.#live.close();
      screen.leave();
      this.#ending.abort();
    };
    signal.addEventListener("abort", end, { once: true });
    screen.enter({
      onInput: (bytes) => this.#read(bytes),
      onResize: () => this.#live.redraw(),
      onClosed: () => this.quit(),
    });
    this.#live.refresh();
    const own = this.#ending.signal;
    try {
      await Promise.race([work(own), untilAborted(own)]);
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }

  #read(bytes: Uint8Array): void {
    const { loop } = this.#parts;
    this.#escape?.cancel();
    this.#press(this.#keys.read(bytes));
    if (this.#keys.isOpen)
      this.#escape = loop.timer(loop.now() + ESCAPE_MS, "periodic", () => this.#press(this.#keys.flush()));
  }

  #press(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.name === "interrupt") this.quit();
      else if (key.name === "suspend") this.#parts.screen.suspend();
      else if (key.name === "redraw") this.#live.redraw();
      else this.#parts.onKey(key);
    }
    this.#live.refresh();
  }
}
