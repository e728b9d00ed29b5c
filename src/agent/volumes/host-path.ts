import type { Stats } from "node:fs";
/** Checks the type of a hostPath, and makes what `…OrCreate` asks for. Error texts equal the kubelet's. */
import { lstat, mkdir, stat, writeFile } from "node:fs/promises";
import { isCode } from "./atomic-folder.ts";
import { VolumeError } from "./payload.ts";

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

export async function setUpHostPath(path: string, type = ""): Promise<void> {
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
