/** Reads the log of one run as `kubectl logs` shows it, in pieces of bounded size, across rotated files. */
import { open, stat, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import type { LogView } from "../runtime-handler.ts";
import { isMissing, listRotated } from "./log-files.ts";
import { MAX_TEXT_BYTES, parseLogLine } from "./log-line.ts";
import { findTail } from "./log-tail.ts";
import { LogText, type LineParser } from "./log-text.ts";
import type { LogActivity } from "./log-writer.ts";

const BLOCK_BYTES = 64 * 1024;
/** Room for the longest text with its time, stream and tag. */
const MAX_LINE_BYTES = MAX_TEXT_BYTES + 128;
const NEWLINE = 0x0a;

/** Files of a log and the format of their lines. */
export interface LogSource {
  /** The current file. */
  readonly path: string;
  /** Rotated files, oldest first. */
  listRotated(): Promise<readonly string[]>;
  readonly parse: LineParser;
}

/** Reads the log of one run, in the format of the Container Runtime Interface. */
export function readLog(path: string, view: LogView, activity?: LogActivity): Readable {
  return readLogFiles({ path, listRotated: () => listRotated(path), parse: parseLogLine }, view, activity);
}

/** `activity` is undefined for a log that is complete. Destroying the stream ends the reading. */
export function readLogFiles(source: LogSource, view: LogView, activity?: LogActivity): Readable {
  const reader = new LogReader(source, view, activity);
  const stream = Readable.from(reader.read(), { objectMode: false, highWaterMark: BLOCK_BYTES });
  const destroy = stream._destroy.bind(stream);
  // The generator may be waiting for output; it must return before the stream can close.
  stream._destroy = (error, callback) => {
    reader.abandon();
    destroy(error, callback);
  };
  return stream;
}

class LogReader {
  readonly #source: LogSource;
  readonly #view: LogView;
  readonly #activity: LogActivity | undefined;
  readonly #text: LogText;
  /** Position of the next byte to read in the open file. */
  #offset = 0;
  #isAbandoned = false;
  #wake: (() => void) | undefined;

  constructor(source: LogSource, view: LogView, activity: LogActivity | undefined) {
    this.#source = source;
    this.#view = view;
    this.#activity = activity;
    this.#text = new LogText(view, source.parse);
  }

  async *read(): AsyncGenerator<Buffer> {
    let log = await this.#openStart();
    try {
      while (log !== undefined) {
        const { version = 0, isComplete = true } = this.#activity ?? {};
        yield* this.#readToEnd(log.file);
        if (this.#text.isFull || this.#isAbandoned) return;
        const next = await openNext(this.#source, log.inode);
        if (next === undefined && (isComplete || !this.#view.follow)) return;
        if (next === undefined) await this.#waitForChange(version);
        else log = await this.#moveTo(next, log);
      }
    } finally {
      await log?.file.close();
    }
  }

  async #moveTo(next: OpenLog, log: OpenLog): Promise<OpenLog> {
    await log.file.close();
    this.#offset = 0;
    return next;
  }

  /** Ends a wait for more output. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wake?.();
  }

  async #openStart(): Promise<OpenLog | undefined> {
    const { path } = this.#source;
    const files = [...(await this.#source.listRotated()), path];
    const { tailLines } = this.#view;
    if (tailLines === undefined) return openLog(files[0] ?? path);
    const { file, offset } = await findTail(files, tailLines);
    this.#offset = offset;
    return openLog(files[file] ?? path);
  }

  /** Up to the last complete line. */
  async *#readToEnd(file: FileHandle): AsyncGenerator<Buffer> {
    const block = Buffer.allocUnsafe(BLOCK_BYTES + MAX_LINE_BYTES);
    while (!this.#text.isFull && !this.#isAbandoned) {
      const { bytesRead } = await file.read(block, 0, block.length, this.#offset);
      const end = block.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
      // No writer of this format makes a line that fills the block.
      const taken = end === 0 && bytesRead === block.length ? bytesRead : end;
      if (taken === 0) return;
      this.#offset += taken;
      const text = this.#text.take(block.subarray(0, taken));
      if (text.length > 0) yield text;
    }
  }

  #waitForChange(version: number): Promise<void> {
    return new Promise((resolve) => {
      const withdraw = this.#activity?.onChange(version, resolve);
      this.#wake = () => {
        withdraw?.();
        resolve();
      };
      if (this.#isAbandoned) this.#wake();
    });
  }
}

interface OpenLog {
  readonly file: FileHandle;
  /** Stays the same when the file is renamed by a rotation. */
  readonly inode: number;
}

/** Undefined if the file does not exist. */
async function openLog(path: string): Promise<OpenLog | undefined> {
  try {
    const file = await open(path);
    return { file, inode: (await file.stat()).ino };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The file after the one with the inode, or the oldest if that one was deleted; undefined after the newest. */
async function openNext(source: LogSource, inode: number): Promise<OpenLog | undefined> {
  // A rotation during the first look hides the file: it was renamed after its new name was looked for.
  const files = (await filesAfter(source, inode)) ??
    (await filesAfter(source, inode)) ?? [...(await source.listRotated()), source.path];
  const [next] = files;
  return next === undefined ? undefined : openLog(next);
}

/** Undefined if no file has the inode. */
async function filesAfter(source: LogSource, inode: number): Promise<readonly string[] | undefined> {
  const files = [...(await source.listRotated()), source.path];
  const inodes = await Promise.all(files.map(inodeOf));
  const index = inodes.indexOf(inode);
  return index < 0 ? undefined : files.slice(index + 1);
}

async function inodeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
