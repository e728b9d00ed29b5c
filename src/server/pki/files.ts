/** Files that are whole or not there, also after a crash: written beside, synced, and put in place in one step. */
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { readKeys } from "../../base/process/private-path.ts";
import { readNamedText } from "../../base/process/read-file.ts";

export interface FileToWrite {
  readonly path: string;
  readonly text: string;
  /** Such as 0o600. */
  readonly mode: number;
  readonly loop: Loop;
}

/** Undefined when there is no such file. */
export async function findFile(path: string, loop: Loop): Promise<string | undefined> {
  try {
    return await loop.outside("file", readNamedText(path));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The same of a private key. Rejects, with the remedy, when other users can read or change it. */
export async function findKeyFile(path: string, loop: Loop): Promise<string | undefined> {
  try {
    return (await loop.outside("file", readKeys(path))).toString();
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Readers see the old text or the new one. */
export function replaceFile(file: FileToWrite): Promise<void> {
  return file.loop.outside(
    "file",
    putInPlace(file, async (written) => rename(written, file.path)),
  );
}

/** Writes a file that must not be there yet; returns its text, which is another's if somebody else was faster. */
export async function createFile(file: FileToWrite): Promise<string> {
  const { path, text, loop } = file;
  try {
    await loop.outside(
      "file",
      putInPlace(file, async (written) => link(written, path)),
    );
    return text;
  } catch (error) {
    if (isCode(error, "EEXIST")) return await loop.outside("file", readNamedText(path));
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
    // Nobody knows the name of the moment.
    throw error instanceof Error && "path" in error ? Object.assign(error, { path }) : error;
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

/** Makes the new name last; Windows cannot open folders and needs none of it. */
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
