/** Appends to a file and rotates it when it is large. One writer; each append is whole lines. */
import { createReadStream, createWriteStream } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Log } from "../log/log.ts";
import type { Loop } from "../loop/loop.ts";
import { makeFolder } from "../process/make-folder.ts";
import { backupName, planRotation } from "./log-rotation.ts";
import type { RotationLimits } from "./log-rotation.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface RotatingFileOptions {
  readonly path: string;
  readonly limits: RotationLimits;
  readonly loop: Loop;
  readonly log: Log;
}

interface OpenFile {
  readonly handle: FileHandle;
  bytes: number;
}

/** Rejects when the file is not writable. Creates it and its folder if missing. */
export async function checkAppendable(path: string): Promise<void> {
  await (await openToAppend(path)).close();
}

async function openToAppend(path: string): Promise<FileHandle> {
  await makeFolder(dirname(path), FOLDER_MODE);
  return open(path, "a+", FILE_MODE);
}

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #file: OpenFile | undefined;
  #lastRotation = 0;
  /** Removal and compression of backups, one round at a time, concurrent with writes. */
  #clearing: Promise<void> = Promise.resolve();

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Call only after the previous append has settled. Rejects when the text is not or only partly written. */
  append(text: string): Promise<void> {
    return this.#options.loop.outside("file", this.#append(Buffer.from(text)));
  }

  async close(): Promise<void> {
    await this.#options.loop.outside("file", this.#closeAll());
  }

  async #append(bytes: Buffer): Promise<void> {
    const { maxBytes } = this.#options.limits;
    let file = this.#file ?? (await this.#open());
    if (file.bytes > 0 && file.bytes + bytes.length > maxBytes) {
      await this.#rotate(file);
      file = await this.#open();
    }
    try {
      await file.handle.writeFile(bytes);
      file.bytes += bytes.length;
    } catch (error) {
      // The next open reads how many bytes were written.
      this.#file = undefined;
      await file.handle.close();
      throw error;
    }
  }

  async #open(): Promise<OpenFile> {
    const { path } = this.#options;
    const handle = await openToAppend(path);
    const { size } = await handle.stat();
    const last = size === 0 ? undefined : await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    // A process killed during a write left half a line.
    if (last !== undefined && last.buffer.toString() !== "\n") await handle.writeFile("\n");
    const file = { handle, bytes: size };
    this.#file = file;
    this.#clear();
    return file;
  }

  async #rotate({ handle }: OpenFile): Promise<void> {
    const { path, loop } = this.#options;
    this.#file = undefined;
    await handle.close();
    // Two rotations within a millisecond need different names.
    this.#lastRotation = Math.max(loop.now(), this.#lastRotation + 1);
    await rename(path, join(dirname(path), backupName(basename(path), this.#lastRotation)));
  }

  #clear(): void {
    this.#clearing = this.#clearing
      .then(() => this.#clearOnce())
      .catch((error: unknown) => {
        this.#options.log.warn("rotated logs could not be removed or compressed", { error });
      });
  }

  async #clearOnce(): Promise<void> {
    const { path, limits, loop } = this.#options;
    const folder = dirname(path);
    const plan = planRotation(basename(path), await readdir(folder), { ...limits, now: loop.now() });
    for (const name of plan.remove) await rm(join(folder, name), { force: true });
    for (const name of plan.compress) await compress(join(folder, name));
  }

  async #closeAll(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
    await this.#clearing;
  }
}

/** Keeps either the whole file or the whole compressed one, also after a crash. */
async function compress(path: string): Promise<void> {
  const { mode } = await stat(path);
  const unfinished = `${path}.gz.unfinished`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: mode & 0o777 }));
  await rename(unfinished, `${path}.gz`);
  await rm(path);
}
