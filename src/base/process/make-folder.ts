import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and its missing parents. Node's `recursive` option loops forever when the system reports
 * every new folder as missing, as /proc does. It loops on a thread that nothing can stop.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path), mode);
    await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
