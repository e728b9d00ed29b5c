/**
 * Writes files atomically: after a crash a file is complete or absent. A temporary file is written, synced and
 * renamed.
 */
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { readKeys } from "../../base/process/private-path.ts";
import { readFileText } from "../../base/process/read-named-file.ts";

export interface FileToWrite {
  readonly path: string;
  readonly text: string;
  /** Permission bits, for example 0o600. */
  readonly mode: number;
  readonly loop: Loop;
}

/** Undefined if the file does not exist. */
export async function findFile(path: string, loop: Loop): Promise<string | undefined> {
  try {
    return await loop.outside("file", readFileText(path));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Reads a private key. Rejects, with the remedy, if other users can read or change the file. */
export async function findKeyFile(path: string, loop: Loop): Promise<string | undefined> {
  try {
    return (await loop.outside("file", readKeys(path))).toString();
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Readers see the old text or the new text, never a mix. */
export function replaceFile(file: FileToWrite): Promise<void> {
  return file.loop.outside(
    "file",
    putInPlace(file, async (written) => rename(written, file.path)),
  );
}

/** Creates a file that must not exist. If another process created it first, returns that process's text. */
export async function createFile(file: FileToWrite): Promise<string> {
  const { path, text, loop } = file;
  try {
    await loop.outside(
      "file",
      putInPlace(file, async (written) => link(written, path)),
    );
    return text;
  } catch (error) {
    if (isCode(error, "EEXIST")) return await loop.outside("file", readFileText(path));
    throw error;
  }
}

async function putInPlace(
  { path, text, mode, loop }: FileToWrite,
  place: (written: string) => Promise<void>,
): Promise<void> {
  const written = `${path}.${loop.random("file-name").uuid()}`;
  try {
    await writeSynced(written, text, mode);
    await place(written);
  } catch (error) {
    // The temporary name means nothing to the user, and a failed write has no path.
    throw error instanceof Error && "code" in error ? Object.assign(error, { path }) : error;
  } finally {
    await rm(written, { force: true });
  }
  if (process.platform !== "win32") await syncFolder(dirname(path));
}

async function writeSynced(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Syncs the directory, which makes the new name durable. Windows cannot open directories and does not need this. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
