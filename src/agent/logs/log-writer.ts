/** Appends the output of one run to its log file, rotates the file, and wakes those who follow it. */
import { mkdir, open, stat, truncate, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { DEFAULT_LOG_LIMITS, isMissing, rotateLog, type LogLimits } from "./log-files.ts";

export interface LogWriterOptions {
  readonly path: string;
  readonly loop: Loop;
  readonly limits?: LogLimits;
}

/** Tells a reader that follows a log when to look again. */
export interface LogActivity {
  /** Grows with every change. */
  readonly version: number;
  /** Whether no more output follows. */
  readonly isComplete: boolean;
  /** Calls back once, as soon as the version differs. Returns a function that withdraws the callback. */
  onChange(version: number, callback: () => void): () => void;
}

export class LogWriter implements LogActivity {
  readonly path: string;
  readonly #loop: Loop;
  readonly #limits: LogLimits;
  readonly #callbacks = new Set<() => void>();
  /** Undefined while the log is closed, and after a rotation that could not begin a new file. */
  #file: FileHandle | undefined;
  #isOpen = false;
  #sizeBytes = 0;
  #isComplete = false;
  #version = 0;

  constructor({ path, loop, limits = DEFAULT_LOG_LIMITS }: LogWriterOptions) {
    this.path = path;
    this.#loop = loop;
    this.#limits = limits;
  }

  get version(): number {
    return this.#version;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Size of the current file. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Opens the file. What lies behind `keepBytes` is cut off: an earlier writer was killed before it noted that output
   * as written, and the output comes again. A file smaller than that was begun after a rotation.
   */
  async open(keepBytes: number): Promise<void> {
    const size = await sizeOf(this.path);
    this.#sizeBytes = size < keepBytes ? 0 : keepBytes;
    if (size > this.#sizeBytes) await truncate(this.path, this.#sizeBytes);
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    this.#file = await open(this.path, "a", 0o640);
    this.#isOpen = true;
  }

  /** Writes all lines or none: rejects when the disk is full, for example. Calls must not overlap. */
  async append(lines: readonly Buffer[]): Promise<void> {
    if (lines.length === 0 || !this.#isOpen) return;
    this.#file ??= await open(this.path, "a", 0o640);
    const file = this.#file;
    try {
      await this.#loop.outside("log write", file.appendFile(Buffer.concat(lines)));
    } catch (error) {
      // A reader may have seen the part that goes again.
      await file.truncate(this.#sizeBytes);
      throw error;
    }
    for (const { length } of lines) this.#sizeBytes += length;
    this.#wake();
  }

  /** Begins a new file if the current one is full. Returns whether it did. */
  async rotateIfFull(): Promise<boolean> {
    if (this.#file === undefined || this.#sizeBytes < this.#limits.maxFileBytes) return false;
    await this.#file.close();
    this.#file = undefined;
    await this.#loop.outside("log rotation", rotateLog(this.path, this.#loop.now(), this.#limits));
    this.#sizeBytes = 0;
    this.#file = await open(this.path, "a", 0o640);
    this.#wake();
    return true;
  }

  /** No output follows; readers end when they have read everything. */
  async finish(): Promise<void> {
    this.#isComplete = true;
    await this.close();
  }

  /** Releases the file, and keeps readers waiting: another writer may go on. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#isOpen = false;
    await file?.close();
    this.#wake();
  }

  onChange(version: number, callback: () => void): () => void {
    if (version === this.#version) this.#callbacks.add(callback);
    else callback();
    return () => this.#callbacks.delete(callback);
  }

  #wake(): void {
    this.#version++;
    const callbacks = [...this.#callbacks];
    this.#callbacks.clear();
    for (const callback of callbacks) callback();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
