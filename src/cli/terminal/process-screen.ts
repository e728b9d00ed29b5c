/** The terminal of this process as a full screen. It is restored however the process ends, unless it is killed. */
import type { ReadStream, WriteStream } from "node:tty";
import type { ScreenSize } from "./frame.ts";
import type { FullScreen, TerminalListener } from "./terminal.ts";

/** The alternate screen, no cursor, no wrapping of long lines. */
const ENTER = "\u001B[?1049h\u001B[?25l\u001B[?7l";
const LEAVE = "\u001B[0m\u001B[?7h\u001B[?25h\u001B[?1049l";

type ScreenSignal = "SIGTSTP" | "SIGCONT";

/** The part of `process` that a full screen needs. */
export interface ScreenProcess {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly pid: number;
  on(event: ScreenSignal | "exit", listener: () => void): unknown;
  off(event: ScreenSignal | "exit", listener: () => void): unknown;
  kill(pid: number, signal: "SIGSTOP"): unknown;
}

export class ProcessScreen implements FullScreen {
  readonly #process: ScreenProcess;
  #listener: TerminalListener | undefined;

  constructor(process: ScreenProcess) {
    this.#process = process;
  }

  get size(): ScreenSize {
    const { columns, rows } = this.#process.stdout;
    return { columns, rows };
  }

  enter(listener: TerminalListener): void {
    const { stdin, stdout } = this.#process;
    this.#listener = listener;
    stdin.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onEnd);
    stdout.on("resize", this.#onResize).on("error", this.#onEnd);
    this.#process.on("SIGTSTP", this.#onStop);
    this.#process.on("SIGCONT", this.#onContinue);
    this.#process.on("exit", this.#onExit);
    stdin.resume();
    this.#show();
  }

  leave(): void {
    if (this.#listener === undefined) return;
    const { stdin, stdout } = this.#process;
    this.#listener = undefined;
    stdin.off("data", this.#onData).off("end", this.#onEnd);
    stdout.off("resize", this.#onResize);
    this.#process.off("SIGTSTP", this.#onStop);
    this.#process.off("SIGCONT", this.#onContinue);
    this.#process.off("exit", this.#onExit);
    this.#hide();
    stdin.pause();
  }

  write(text: string): Promise<void> {
    const { stdout } = this.#process;
    return new Promise((resolve) => {
      stdout.write(text, () => resolve());
    });
  }

  suspend(): void {
    this.#hide();
    this.#process.kill(this.#process.pid, "SIGSTOP");
  }

  #show(): void {
    this.#process.stdin.setRawMode(true);
    this.#process.stdout.write(ENTER);
  }

  /** Writes to a terminal are synchronous, so this also works while the process exits. */
  #hide(): void {
    this.#process.stdout.write(LEAVE);
    if (!this.#process.stdin.destroyed) this.#process.stdin.setRawMode(false);
  }

  readonly #onData = (bytes: Buffer): void => this.#listener?.onInput(bytes);
  readonly #onEnd = (): void => this.#listener?.onClosed();
  readonly #onResize = (): void => this.#listener?.onResize();
  readonly #onStop = (): void => this.suspend();
  readonly #onExit = (): void => this.leave();
  readonly #onContinue = (): void => {
    this.#show();
    this.#listener?.onResize();
  };
}
