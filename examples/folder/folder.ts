/** The world that the loop acts on: a folder on disk, or one in memory for tests. */
import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

export interface Folder {
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  write(path: string, content: string): Promise<void>;
  /** Does nothing when there is no such file. */
  remove(path: string): Promise<void>;
}

export function folderInMemory(files: Map<string, string>): Folder {
  return {
    read: async (path) => files.get(path),
    write: async (path, content) => void files.set(path, content),
    remove: async (path) => void files.delete(path),
  };
}

export function folderOnDisk(root: string): Folder {
  return {
    async read(path) {
      try {
        return await readFile(join(root, path), "utf8");
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    // Readers see the old content or the new one, never a part of it.
    async write(path, content) {
      const target = join(root, path);
      await mkdir(dirname(target), { recursive: true });
      await refuseOutside(root, dirname(target));
      const beside = join(dirname(target), `.${String(process.pid)}.new`);
      await writeFile(beside, content);
      await rename(beside, target);
    },
    async remove(path) {
      try {
        await refuseOutside(root, dirname(join(root, path)));
        await rm(join(root, path), { force: true });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

/** A symbolic link in the folder must not lead out of it. */
async function refuseOutside(root: string, folder: string): Promise<void> {
  const [inside, real] = [await realpath(root), await realpath(folder)];
  if (real !== inside && !real.startsWith(inside + sep)) throw new Error(`${folder} leads out of ${root}`);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
