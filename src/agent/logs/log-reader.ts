/** Reads the log of one run as `kubectl logs` shows it, in pieces of bounded size, across rotated files. */
import { open, stat, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { isMissing, listRotated } from "./log-files.ts";
import { MAX_TEXT_BYTES } from "./log-line.ts";
import { findTail } from "./log-tail.ts";
import { LogText, type LogView } from "./log-text.ts";
import type { LogActivity } from "./log-writer.ts";

const BLOCK_BYTES = 64 * 1024;
/** Room for the longest text with its time, stream and tag. */
const MAX_LINE_BYTES = MAX_TEXT_BYTES + 128;
const NEWLINE = 0x0a;

/** `activity` is undefined for a run that has ended. Destroying the stream ends the reading. */
export function readLog(path: string, view: LogView, activity?: LogActivity): Readable {
  const reader = new LogReader(path, view, activity);
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
  readonly #path: string;
  readonly #view: LogView;
  readonly #activity: LogActivity | undefined;
  readonly #text: LogText;
  /** Position of the next byte to read in the open file. */
  #offset = 0;
  #isAbandoned = false;
  #wake: (() => void) | undefined;

  constructor(path: string, view: LogView, activity: LogActivity | undefined) {
    this.#path = path;
    this.#view = view;
    this.#activity = activity;
    this.#text = new LogText(view);
  }

  async *read(): AsyncGenerator<Buffer> {
    let log = await this.#openStart();
    try {
      while (log !== undefined) {
        const { version = 0, isComplete = true } = this.#activity ?? {};
        yield* this.#readToEnd(log.file);
        if (this.#text.isFull || this.#isAbandoned) return;
        const next = await openNext(this.#path, log.inode);
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
    const files = [...(await listRotated(this.#path)), this.#path];
    const { tailLines } = this.#view;
    if (tailLines === undefined) return openLog(files[0] ?? this.#path);
    const { file, offset } = await findTail(files, tailLines);
    this.#offset = offset;
    return openLog(files[file] ?? this.#path);
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
async function openNext(path: string, inode: number): Promise<OpenLog | undefined> {
  // A rotation during the first look hides the file: it was renamed after its new name was looked for.
  const files = (await filesAfter(path, inode)) ??
    (await filesAfter(path, inode)) ?? [...(await listRotated(path)), path];
  const [next] = files;
  return next === undefined ? undefined : openLog(next);
}

/** Undefined if no file has the inode. */
async function filesAfter(path: string, inode: number): Promise<readonly string[] | undefined> {
  const files = [...(await listRotated(path)), path];
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
