/** Time to read the lines of the demo. A key of the user stops the story, and lets it go on. */
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { UserScreen, UserStreams } from "../command.ts";

const SPACE = 0x20;
/** In raw mode Ctrl-C is a byte instead of a signal. */
const CTRL_C = 0x03;
const Q = 0x71;

const PAUSED = "paused · space goes on · q ends";

export interface ReadingPaceParts {
  readonly loop: Loop;
  /** Terminal of the user; without one no key is read. */
  readonly screen: Pick<UserScreen, "live"> | undefined;
  readonly stdin: UserStreams["stdin"];
  readonly signal: AbortSignal;
}

export class ReadingPace {
  readonly #parts: ReadingPaceParts;
  readonly #ending = new AbortController();
  #resumed: Promise<void> | undefined;
  #resume = (): void => undefined;

  constructor(parts: ReadingPaceParts) {
    this.#parts = parts;
    const { screen, stdin, signal } = parts;
    if (signal.aborted) this.#end();
    else signal.addEventListener("abort", this.#end, { once: true });
    if (screen === undefined) return;
    stdin.setRawMode?.(true);
    stdin.on("data", this.#onInput);
    stdin.resume();
  }

  /** Aborted when the user or the system ends the demo. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Resolves after the time, and not while the story is paused. */
  async wait(ms: number): Promise<void> {
    await pause(this.#parts.loop, { ms, kind: "progress" }, this.signal);
    while (this.#resumed !== undefined) await this.#resumed;
  }

  /** Gives the terminal back. */
  close(): void {
    const { screen, stdin, signal } = this.#parts;
    signal.removeEventListener("abort", this.#end);
    if (screen === undefined) return;
    stdin.off("data", this.#onInput);
    stdin.setRawMode?.(false);
    stdin.pause();
  }

  readonly #onInput = (bytes: Uint8Array): void => {
    for (const byte of bytes) {
      if (byte === SPACE) this.#toggle();
      if (byte === CTRL_C || byte === Q) this.#end();
    }
  };

  #toggle(): void {
    if (this.#resumed === undefined) {
      this.#resumed = new Promise((resolve) => (this.#resume = resolve));
      this.#parts.screen?.live(PAUSED);
      return;
    }
    this.#resumed = undefined;
    this.#parts.screen?.live("");
    this.#resume();
  }

  readonly #end = (): void => {
    this.#ending.abort(new Error("the demo was ended"));
    if (this.#resumed !== undefined) this.#toggle();
  };
}
