/**
 * Replaces all files of a folder at once, as the kubelet does: `..data` is a link to a folder with the files, and each
 * name in the volume is a link into `..data`. A reader sees the old files or the new ones, never a mixture.
 */
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { samePayload, type Payload, type PayloadFile } from "./payload.ts";

const DATA = "..data";
const NEXT = "..data_tmp";

/** Undefined keeps the user or group of the file. */
export interface FileOwner {
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

export interface FolderVersion {
  /** Unique name part of the new version, for example a time. */
  readonly stamp: string;
  /** Group of the files. */
  readonly gid: number | undefined;
}

/** False when the folder has these files already. */
export async function replaceFiles(
  folder: string,
  payload: Payload,
  version: FolderVersion,
): Promise<boolean> {
  const before = await readLink(join(folder, DATA));
  if (before !== undefined && samePayload(await readFiles(join(folder, before)), payload)) return false;
  const name = `..${version.stamp}`;
  const target = join(folder, name);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await chmod(target, 0o755);
  for (const [path, file] of payload) await writeOne(target, path, { ...file, gid: version.gid });
  await rm(join(folder, NEXT), { force: true });
  await symlink(name, join(folder, NEXT));
  await rename(join(folder, NEXT), join(folder, DATA));
  await linkNames(folder, new Set([...payload.keys()].map((path) => path.split("/")[0] ?? path)));
  if (before !== undefined) await rm(join(folder, before), { recursive: true, force: true });
  return true;
}

async function writeOne(
  target: string,
  path: string,
  { data, mode, uid, gid }: PayloadFile & Pick<FolderVersion, "gid">,
): Promise<void> {
  const file = join(target, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, data, { mode: 0o600 });
  await giveTo(file, { uid, gid });
  // After the change of the owner, which clears some bits.
  await chmod(file, mode);
}

/** Stands for the user or group that a file has, as in the system call. */
const KEPT = -1;

/** Links are not followed. An agent without root's rights keeps its own files: its pods run as the same user. */
export async function giveTo(file: string, { uid, gid }: FileOwner): Promise<void> {
  if (uid === undefined && gid === undefined) return;
  try {
    await lchown(file, uid ?? KEPT, gid ?? KEPT);
  } catch (error) {
    if (!isCode(error, "EPERM")) throw error;
  }
}

async function linkNames(folder: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith("..") && !names.has(name)) await rm(join(folder, name), { force: true });
  }
  for (const name of names) {
    const link = join(folder, name);
    const wanted = join(DATA, name);
    if ((await readLink(link)) === wanted) continue;
    await rm(link, { recursive: true, force: true });
    await symlink(wanted, link);
  }
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isCode(error, "ENOENT") || isCode(error, "EINVAL")) return undefined;
    throw error;
  }
}

async function readFiles(folder: string, below = ""): Promise<Payload> {
  const files = new Map<string, PayloadFile>();
  let entries;
  try {
    entries = await readdir(join(folder, below), { withFileTypes: true });
  } catch (error) {
    if (isCode(error, "ENOENT")) return files;
    throw error;
  }
  for (const entry of entries) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      for (const [inner, file] of await readFiles(folder, path)) files.set(inner, file);
    } else {
      const [data, { mode }] = await Promise.all([readFile(join(folder, path)), lstat(join(folder, path))]);
      files.set(path, { data, mode: mode & 0o777 });
    }
  }
  return files;
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
