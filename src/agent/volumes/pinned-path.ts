/**
 * Opens files and folders step by step, without a moment in which another program could put a link in place of a
 * checked folder. On Linux a name is looked up in an open folder; elsewhere by its path.
 */
import { open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";

/** A file or folder of this machine, and what it was when it was checked. */
export interface VolumePlace {
  readonly path: string;
  /** Device and inode, as in `41:77`. */
  readonly identity?: string | undefined;
}

const IS_LINUX = process.platform === "linux";
/** The kernel's `O_PATH`: opens a file of any kind without touching it. A pipe would block. */
const NAME_ONLY = 0o1000_0000;

export class PinnedPath {
  readonly #path: string;
  /** Undefined where files cannot be opened without touching them. */
  readonly #file: FileHandle | undefined;

  private constructor(path: string, file: FileHandle | undefined) {
    this.#path = path;
    this.#file = file;
  }

  /** Follows links. Rejects with ENOENT for a missing file and for a link to one. */
  static async open(path: string): Promise<PinnedPath> {
    if (IS_LINUX) return new PinnedPath(path, await open(path, NAME_ONLY));
    await stat(path);
    return new PinnedPath(path, undefined);
  }

  /** A path that means this folder, whatever happens to its name. */
  get steadyPath(): string {
    return this.#file === undefined ? this.#path : `/proc/self/fd/${String(this.#file.fd)}`;
  }

  /** The place without links. */
  async place(): Promise<Required<VolumePlace>> {
    const { dev, ino } = await stat(this.steadyPath, { bigint: true });
    const path = this.#file === undefined ? await realpath(this.#path) : await readlink(this.steadyPath);
    return { path, identity: `${String(dev)}:${String(ino)}` };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
