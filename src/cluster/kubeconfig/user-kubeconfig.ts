/**
 * Merges a context into a kubeconfig of the user, and takes it out. The file is replaced atomically under kubectl's
 * lock; a copy of the former text stays beside it. A file that cannot be changed safely is left alone.
 */
import { lstat, open, readFile, realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { findPathRemedy } from "../../base/process/path-remedy.ts";
import { replaceFile } from "../../server/pki/files.ts";
import { entriesOf } from "./kubeconfig.ts";
import type { KubeconfigOptions } from "./kubeconfig.ts";
import { withContext, withoutContext } from "./merged-kubeconfig.ts";
import type { KubeconfigEdit, OwnedContext } from "./merged-kubeconfig.ts";

/** Clusters that start at once on a busy disk take the lock one after the other. Less than the time that a stop may take. */
const LOCK_WAIT_MS = 3000;
const LOCK_RETRY_MS = 20;
/** Enough for some hundred clusters with their certificates. */
const BYTES_MAX = 8 << 20;

/** Why the file was left alone: one sentence with the remedy. */
export class KubeconfigLeftAlone extends Error {
  override readonly name = "KubeconfigLeftAlone";
}

interface UserFile {
  readonly file: string;
  readonly loop: Loop;
  /** Upper bound of the wait for the file's lock. Default: 3 s. */
  readonly lockWaitMs?: number;
}

/** Rejects with KubeconfigLeftAlone when the file was not changed. */
export async function mergeContext(
  user: UserFile,
  context: OwnedContext,
  options: KubeconfigOptions,
): Promise<{ readonly isCurrent: boolean }> {
  const { file, loop } = user;
  return guarded(file, async () => {
    await loop.outside("file", makeFolder(dirname(file), 0o700));
    const { current } = await locked(user, (text) =>
      withContext(text ?? "", context, entriesOf({ ...options, name: context.name })),
    );
    return { isCurrent: current === context.name };
  });
}

/** Takes out the contexts of a data dir. Rejects with KubeconfigLeftAlone when that was impossible. */
export async function removeContext(user: UserFile, dataDir: string): Promise<void> {
  const { file, loop } = user;
  await guarded(file, async () => {
    if (!(await loop.outside("file", mentions(file, dataDir)))) return;
    await locked(user, (text) =>
      text === undefined ? { type: "unchanged", current: undefined } : withoutContext(text, dataDir),
    );
  });
}

async function guarded<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof KubeconfigLeftAlone) throw error;
    const remedy = findPathRemedy(error) ?? `${file} cannot be changed: ${String(error)}`;
    throw new KubeconfigLeftAlone(remedy, { cause: error });
  }
}

/** Undefined for a file that does not exist. */
type Change = (text: string | undefined) => KubeconfigEdit;

type Done = Exclude<KubeconfigEdit, { readonly type: "refused" }>;

async function locked(user: UserFile, change: Change): Promise<Done> {
  const { file, loop } = user;
  const lock = `${file}.lock`;
  await takeLock(lock, user);
  try {
    return await applied(user, change);
  } finally {
    await loop.outside("file", rm(lock, { force: true }));
  }
}

/** Creates kubectl's lock file. */
async function takeLock(lock: string, { loop, lockWaitMs = LOCK_WAIT_MS }: UserFile): Promise<void> {
  const latest = loop.elapsed() + lockWaitMs;
  for (;;) {
    try {
      const handle = await loop.outside("file", open(lock, "wx", 0o600));
      await loop.outside("file", handle.close());
      return;
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
      if (loop.elapsed() >= latest)
        throw new KubeconfigLeftAlone(
          `${lock} is held by another program: remove that file if no kubectl runs`,
          { cause: error },
        );
    }
    await pause(loop, { ms: LOCK_RETRY_MS, kind: "progress" });
  }
}

async function applied({ file, loop }: UserFile, change: Change): Promise<Done> {
  const found = await loop.outside("file", findTarget(file));
  const edit = change(found?.text);
  if (edit.type === "refused") throw new KubeconfigLeftAlone(`${file} ${edit.reason}`);
  if (edit.type === "unchanged") return edit;
  const path = found?.path ?? file;
  const place = { mode: 0o600, loop };
  if (found !== undefined && found.text !== "")
    await replaceFile({ ...place, path: `${path}.setpoint-backup`, text: found.text });
  // The file holds a private key from now on, so other users must not read it.
  await replaceFile({ ...place, path, text: edit.text });
  return edit;
}

/** The file behind links, with its text. Undefined for one that does not exist. */
async function findTarget(
  file: string,
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  if (!(await exists(file))) {
    if (!(await isLink(file))) return undefined;
    throw new KubeconfigLeftAlone(
      `${file} is a link to a file that does not exist: remove it or create the file`,
    );
  }
  const path = await realpath(file);
  const found = await stat(path);
  if (!found.isFile())
    throw new KubeconfigLeftAlone(`${file} is not a regular file: choose another with --kubeconfig`);
  const self = process.platform === "win32" ? undefined : process.geteuid?.();
  if (self !== undefined && found.uid !== self)
    throw new KubeconfigLeftAlone(
      `${file} belongs to another user (${String(found.uid)}, and this process runs as ${String(self)}): change its owner with chown, or choose another with --kubeconfig`,
    );
  if (found.size > BYTES_MAX)
    throw new KubeconfigLeftAlone(`${file} is larger than 8 MiB: choose another with --kubeconfig`);
  return { path, text: await readFile(path, "utf8") };
}

/** Whether the file may have contexts of the data dir. Most files have none, and need no lock. */
async function mentions(file: string, dataDir: string): Promise<boolean> {
  if (!(await exists(file))) return false;
  const found = await stat(file);
  // A pipe would block, and a file beyond the bound is never changed.
  return found.isFile() && found.size <= BYTES_MAX && (await readFile(file, "utf8")).includes(dataDir);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
