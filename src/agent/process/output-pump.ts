/**
 * Moves the output that a shim has put aside into the log of its container. The place up to which it was moved is
 * noted after each batch, so that an agent that was killed goes on without losing or doubling a line.
 */
import { existsSync, fstatSync } from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { isMissing } from "../logs/log-files.ts";
import { stampOutput, type OutputStream } from "../logs/log-line.ts";
import type { LogWriter } from "../logs/log-writer.ts";

/** Receives output as the program writes it, also parts of lines. */
export type OutputTap = (stream: OutputStream, bytes: Buffer) => void;

/** Output that is moved with one note of the place. */
const BATCH_BYTES = 256 * 1024;
/** The note has a fixed size: it is overwritten in place by one write. */
const NOTE_BYTES = 160;

interface Place {
  readonly segment: number;
  readonly offset: number;
}

interface Note {
  readonly out: Place;
  readonly err: Place;
  readonly logBytes: number;
}

const BEGIN: Place = { segment: 0, offset: 0 };

export class OutputPump {
  readonly #folder: string;
  readonly #loop: Loop;
  readonly #log: LogWriter;
  readonly #taps = new Set<OutputTap>();
  #sources: readonly OutputSource[] = [];
  #note: FileHandle | undefined;

  constructor(folder: string, log: LogWriter, loop: Loop) {
    this.#folder = folder;
    this.#log = log;
    this.#loop = loop;
  }

  async open(): Promise<void> {
    const path = join(this.#folder, "position");
    this.#note = await open(path, existsSync(path) ? "r+" : "w+", 0o600);
    const { buffer, bytesRead } = await this.#note.read(Buffer.alloc(NOTE_BYTES), 0, NOTE_BYTES, 0);
    const note = bytesRead === 0 ? undefined : (JSON.parse(buffer.toString("utf8", 0, bytesRead)) as Note);
    this.#sources = [
      new OutputSource(this.#folder, "stdout", note?.out ?? BEGIN),
      new OutputSource(this.#folder, "stderr", note?.err ?? BEGIN),
    ];
    await this.#log.open(note?.logBytes ?? 0);
  }

  /** Calls back with output that is moved from now on. Returns a function that ends this. */
  tap(tap: OutputTap): () => void {
    this.#taps.add(tap);
    return () => this.#taps.delete(tap);
  }

  /** Moves everything that is there. Returns whether the output has ended. Calls must not overlap. */
  async move(): Promise<boolean> {
    let hasMore = true;
    while (hasMore) {
      hasMore = false;
      for (const source of this.#sources) if (await this.#moveBatch(source)) hasMore = true;
    }
    return this.#sources.every(({ hasEnded }) => hasEnded);
  }

  /** Moves what is there, an unfinished line included: no output follows. */
  async finish(): Promise<void> {
    await this.move();
    for (const source of this.#sources) await this.#log.append(source.takeRest(this.#loop.now()));
    await this.#log.finish();
    await this.close();
  }

  /** Releases the files; another pump may go on. */
  async close(): Promise<void> {
    const note = this.#note;
    this.#note = undefined;
    await note?.close();
    await Promise.all(this.#sources.map((source) => source.close()));
    if (!this.#log.isComplete) await this.#log.close();
  }

  async #moveBatch(source: OutputSource): Promise<boolean> {
    const before = source.state;
    const bytes = await this.#loop.outside("container output", source.read());
    if (bytes === undefined) return false;
    const lines = source.stamp(bytes, this.#loop.now());
    try {
      await this.#log.append(lines);
    } catch (error) {
      await source.goBack(before);
      throw error;
    }
    for (const tap of this.#taps) tap(source.stream, bytes);
    if (lines.length === 0) return true;
    await this.#writeNote();
    await source.dropMoved();
    if (await this.#log.rotateIfFull()) await this.#writeNote();
    return true;
  }

  async #writeNote(): Promise<void> {
    const [out, err] = this.#sources.map(({ place }) => place);
    const note: Note = { out: out ?? BEGIN, err: err ?? BEGIN, logBytes: this.#log.sizeBytes };
    await this.#note?.write(JSON.stringify(note).padEnd(NOTE_BYTES), 0);
  }
}

interface SourceState {
  readonly place: Place;
  readonly read: Place;
  readonly rest: Buffer;
}

/** The segments of one stream. */
class OutputSource {
  readonly stream: OutputStream;
  readonly #path: string;
  /** Up to here, everything is in lines. */
  #place: Place;
  /** Up to here, everything was read. */
  #read: Place;
  #rest: Buffer = Buffer.alloc(0);
  #file: FileHandle | undefined;
  #oldest: number;
  hasEnded = false;

  constructor(folder: string, stream: OutputStream, place: Place) {
    this.stream = stream;
    this.#path = join(folder, stream === "stdout" ? "out" : "err");
    this.#place = place;
    this.#read = place;
    this.#oldest = place.segment;
  }

  get place(): Place {
    return this.#place;
  }

  get state(): SourceState {
    return { place: this.#place, read: this.#read, rest: this.#rest };
  }

  /** The output after this state could not be written; it is read again. */
  async goBack({ place, read, rest }: SourceState): Promise<void> {
    await this.close();
    this.#place = place;
    this.#read = read;
    this.#rest = rest;
  }

  /** Undefined if there is nothing now. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      // Asked before the read: what was written before the end is then found by it.
      const isAtEnd = existsSync(`${this.#path}.end`);
      const hasNext = existsSync(this.#segment(this.#read.segment + 1));
      const bytes = await this.#readSegment();
      if (bytes !== undefined) return bytes;
      if (!hasNext) {
        this.hasEnded ||= isAtEnd;
        return undefined;
      }
      await this.close();
      this.#read = { segment: this.#read.segment + 1, offset: 0 };
      if (this.#rest.length === 0) this.#place = this.#read;
    }
  }

  stamp(bytes: Buffer, at: number): readonly Buffer[] {
    const output = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const { lines, consumed } = stampOutput(output, { stream: this.stream, at, isLast: false });
    const left = output.length - consumed;
    // Beyond what this read returned, the rest begins where it began before.
    if (consumed > 0) this.#place = this.#placeBefore(left, bytes.length);
    this.#rest = Buffer.from(output.subarray(consumed));
    return lines;
  }

  takeRest(at: number): readonly Buffer[] {
    return stampOutput(this.#rest, { stream: this.stream, at, isLast: true }).lines;
  }

  /** Deletes segments whose output is in the log. */
  async dropMoved(): Promise<void> {
    for (; this.#oldest < this.#place.segment; this.#oldest++)
      await unlink(this.#segment(this.#oldest)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #placeBefore(left: number, lastRead: number): Place {
    // The rest is shorter than one line. It reaches into the read before only if nothing of this read was consumed.
    return { segment: this.#read.segment, offset: this.#read.offset - Math.min(left, lastRead) };
  }

  #segment(number: number): string {
    return `${this.#path}.${String(number)}`;
  }

  async #readSegment(): Promise<Buffer | undefined> {
    this.#file ??= await openOrMissing(this.#segment(this.#read.segment));
    if (this.#file === undefined) return undefined;
    const { segment, offset } = this.#read;
    // Without the thread pool: every idle container is asked every few seconds, and the size of an open file is in memory.
    const waiting = fstatSync(this.#file.fd).size - offset;
    if (waiting <= 0) return undefined;
    const buffer = Buffer.allocUnsafe(Math.min(waiting, BATCH_BYTES));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, offset);
    this.#read = { segment, offset: offset + bytesRead };
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
  }
}

async function openOrMissing(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
