/** Reads files that people name: what is wrong with one is told with its path. */
import { readFile } from "node:fs/promises";

/** As `readFile`. Node.js does not say which file it was when a directory is in its place. */
export async function readNamed(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw error instanceof Error && !("path" in error) ? Object.assign(error, { path }) : error;
  }
}

export async function readNamedText(path: string): Promise<string> {
  return (await readNamed(path)).toString();
}
