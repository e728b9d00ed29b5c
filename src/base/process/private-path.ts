/**
 * Folders that no other user may change, and files of keys that no other user may read. Modes say nothing on Windows, where nothing is checked.
 */
import { lstat, open, readlink, stat } from "node:fs/promises";
import { readFileBytes } from "./read-named-file.ts";

/** Owner and mode of a path, from the operating system. */
export interface PathOwner {
  readonly uid: number;
  readonly mode: number;
}

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;
/** The way in which Kubernetes mounts a Secret for a group of a pod: root's, and readable by the group. */
const OPEN_BEYOND_GROUP = 0o037;
const PERMISSIONS = 0o777;

/** The reason why another user could change what is in the folder; undefined when none could. `self` is the user of the process. */
export function findFolderProblem(path: string, { uid, mode }: PathOwner, self: number): string | undefined {
  if (!isTrusted(uid, self)) return foreignText(path, uid, self);
  if ((mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  return `${path} can be changed by other users (mode ${modeText(mode)}): run chmod 700 ${path}`;
}

/** The same for a key file, which other users must not be able to read either. */
export function findKeyFileProblem(path: string, { uid, mode }: PathOwner, self: number): string | undefined {
  if (!isTrusted(uid, self)) return foreignText(path, uid, self);
  const forbidden = uid === 0 ? OPEN_BEYOND_GROUP : OPEN_TO_OTHERS;
  if ((mode & forbidden) === 0) return undefined;
  return `${path} holds secrets and is open to other users (mode ${modeText(mode)}): run chmod 600 ${path}`;
}

/** Root can change everything anyway. */
function isTrusted(uid: number, self: number): boolean {
  return uid === self || uid === 0;
}

function foreignText(path: string, uid: number, self: number): string {
  return `${path} belongs to another user (${String(uid)}, and this process runs as ${String(self)}): change its owner with chown, or choose another place`;
}

function modeText(mode: number): string {
  return (mode & PERMISSIONS).toString(8).padStart(4, "0");
}

function findSelf(): number | undefined {
  return process.platform === "win32" ? undefined : process.geteuid?.();
}

/** Rejects with the remedy for a folder that another user could change; links are followed. */
export async function requireOwnFolder(path: string): Promise<void> {
  const self = findSelf();
  if (self === undefined) return;
  const problem = findFolderProblem(path, await stat(path), self);
  if (problem !== undefined) throw new Error(problem);
}

/** Rejects with the remedy for a link in the place of a folder; `remedy` says what to do about it. */
export async function refuseLink(path: string, remedy: string): Promise<void> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  throw new Error(`${path} is a link to ${await readlink(path)}: ${remedy}`);
}

/** As `readFileBytes`, of a file of keys: the file that was checked is the one that is read. */
export async function readKeys(path: string): Promise<Buffer> {
  const self = findSelf();
  if (self === undefined) return readFileBytes(path);
  const file = await open(path);
  try {
    const found = await file.stat();
    // Its error names the path.
    if (found.isDirectory()) return await readFileBytes(path);
    // A pipe has no mode that matters: its two ends are its makers'.
    const problem = found.isFile() ? findKeyFileProblem(path, found, self) : undefined;
    if (problem !== undefined) throw new Error(problem);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The reason why `readKeys` would refuse the file; undefined for a missing file, which its reader reports. */
export async function findExposure(path: string): Promise<string | undefined> {
  const self = findSelf();
  if (self === undefined) return undefined;
  try {
    return findKeyFileProblem(path, await stat(path), self);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
