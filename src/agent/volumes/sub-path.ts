/**
 * Finds the file or folder of a `subPath` in a volume. Programs of the pod may have written links into the volume: the
 * result is below the volume's real folder, or the mount fails. Missing folders are made.
 */
import { chmod, lstat, mkdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { isCode } from "./atomic-folder.ts";
import { VolumeError, checkedPath } from "./payload.ts";

export async function findSubPath(volume: string, subPath: string): Promise<string> {
  const root = await realpath(volume);
  let path = root;
  for (const part of checkedPath(subPath).split("/")) {
    path = await nextPart(path, part);
    if (path !== root && !path.startsWith(root + sep))
      throw new VolumeError(
        `subpath ${JSON.stringify(subPath)} not within volume path ${JSON.stringify(volume)}`,
      );
  }
  return path;
}

/** Follows a link, and makes a missing folder with the mode of its parent. */
async function nextPart(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  try {
    return await realpath(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
  const isDangling = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isDangling) throw new VolumeError(`subpath ${JSON.stringify(name)} is a link to a missing file`);
  const { mode } = await lstat(parent);
  await mkdir(path);
  await chmod(path, mode & 0o777);
  return path;
}
