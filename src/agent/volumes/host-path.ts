import type { Stats } from "node:fs";
/** Checks the type of a hostPath, and makes what `…OrCreate` asks for. Error texts equal the kubelet's. */
import { lstat, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { isCode } from "./atomic-folder.ts";
import { VolumeError } from "./payload.ts";
import { PinnedPath, type VolumePlace } from "./pinned-path.ts";

interface PathType {
  readonly is: (found: Stats) => boolean;
  readonly text: string;
}

const TYPES: Readonly<Record<string, PathType>> = {
  Directory: { is: (found) => found.isDirectory(), text: "is not a directory" },
  DirectoryOrCreate: { is: (found) => found.isDirectory(), text: "is not a directory" },
  File: { is: (found) => found.isFile(), text: "is not a file" },
  FileOrCreate: { is: (found) => found.isFile(), text: "is not a file" },
  Socket: { is: (found) => found.isSocket(), text: "is not a socket file" },
  CharDevice: { is: (found) => found.isCharacterDevice(), text: "is not a character device" },
  BlockDevice: { is: (found) => found.isBlockDevice(), text: "is not a block device" },
};

/** Folder of provisioned volumes in the data dir. */
export const VOLUME_FOLDER = "volumes";

export interface HostPathRules {
  readonly type: string | undefined;
  /** Folder of the agent, which is never a volume. */
  readonly own: string;
  /** Name of a folder in it whose folders are volumes. */
  readonly except?: string;
}

export async function setUpHostPath(path: string, rules: HostPathRules): Promise<VolumePlace> {
  await makeWanted(path, rules.type);
  const { path: real, identity } = await placeOf(path);
  const own = await realpath(rules.own);
  const isOwn = real === own || real.startsWith(own + sep);
  const isVolume = rules.except !== undefined && real.startsWith(join(own, rules.except) + sep);
  if (isOwn && !isVolume)
    throw new VolumeError(`hostPath ${path} is in the data dir of setpoint: choose another folder`);
  return { path, identity };
}

async function placeOf(path: string): Promise<Required<VolumePlace>> {
  const pinned = await PinnedPath.open(path);
  try {
    return await pinned.place();
  } finally {
    await pinned.close();
  }
}

async function makeWanted(path: string, type = ""): Promise<void> {
  if (type === "DirectoryOrCreate") await makeFolder(path);
  if (type === "FileOrCreate") await makeFile(path);
  const wanted = TYPES[type];
  if (wanted === undefined) {
    // As container engines do for a path without a type.
    if (!(await exists(path))) await makeFolder(path);
    return;
  }
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !wanted.is(found))
    throw new VolumeError(`hostPath type check failed: ${path} ${wanted.text}`);
}

async function makeFolder(path: string): Promise<void> {
  if (!(await exists(path))) await mkdir(path, { recursive: true, mode: 0o755 });
}

async function makeFile(path: string): Promise<void> {
  try {
    await writeFile(path, "", { flag: "wx", mode: 0o644 });
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
