import type { Log } from "../log/log.ts";
/** Writes the lines of a log to a rotated file. Callers never wait: lines beyond the bound are dropped and counted. */
import type { Loop } from "../loop/loop.ts";
import type { RotationLimits } from "./log-rotation.ts";
import { RotatingFile } from "./rotating-file.ts";

/** Bound of the lines that wait for a slow disk. */
const WAITING_CHARS_MAX = 1 << 20;
/** Minimum interval between reports of a file that cannot be written. */
const REPORT_EVERY_MS = 60_000;

export interface LogFileOptions {
  readonly path: string;
  readonly limits: RotationLimits;
  readonly loop: Loop;
  /** Receives the failures of this file. */
  readonly fallback: Log;
}

export class LogFile {
  readonly #options: LogFileOptions;
  readonly #file: RotatingFile;
  #waiting: string[] = [];
  #chars = 0;
  #dropped = 0;
  #isOpen = false;
  #writing: Promise<void> | undefined;
  #reportedAt = -Infinity;

  constructor(options: LogFileOptions) {
    const { path, limits, loop, fallback } = options;
    this.#options = options;
    this.#file = new RotatingFile({ path, limits, loop, log: fallback });
  }

  /** Takes whole lines. They wait until `open`. */
  write(lines: string): void {
    if (this.#chars + lines.length > WAITING_CHARS_MAX) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(lines);
    this.#chars += lines.length;
    this.#pump();
  }

  /** Begins to write. The file is created with its first line. */
  open(): void {
    this.#isOpen = true;
    this.#pump();
  }

  /** Resolves when every accepted line is written or lost. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  #pump(): void {
    if (!this.#isOpen || this.#waiting.length === 0) return;
    this.#writing ??= this.#writeAll();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    // Lines of the same step become one write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const text = this.#take();
      try {
        await this.#file.append(text);
      } catch (error) {
        this.#report(error);
      }
    }
    this.#writing = undefined;
  }

  #take(): string {
    const text = this.#waiting.join("");
    const note =
      this.#dropped === 0 ? "" : `${String(this.#dropped)} messages dropped: the disk is too slow\n`;
    this.#waiting = [];
    this.#chars = 0;
    this.#dropped = 0;
    return text + note;
  }

  #report(error: unknown): void {
    const { fallback, loop, path } = this.#options;
    if (loop.elapsed() - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = loop.elapsed();
    fallback.error("the log file cannot be written", { path, error });
  }
}
