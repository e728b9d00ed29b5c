/** Reads files that users name; errors carry the path. */
import { readFile } from "node:fs/promises";

/** Like `readFile`, but with the path in every error. Node.js omits it when the path is a directory. */
export async function readFileBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw error instanceof Error && !("path" in error) ? Object.assign(error, { path }) : error;
  }
}

export async function readFileText(path: string): Promise<string> {
  return (await readFileBytes(path)).toString();
}
