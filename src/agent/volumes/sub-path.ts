/**
 * Finds the file or folder of a `subPath` in a volume. Programs of the pod may write links into the volume at any time:
 * the result is below the volume's real folder, or the mount fails. Missing folders are made.
 */
import { chmod, lstat, mkdir, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { isCode } from "./atomic-folder.ts";
import { VolumeError, checkedPath } from "./payload.ts";
import { PinnedPath, type VolumePlace } from "./pinned-path.ts";

export async function findSubPath(volume: VolumePlace, subPath: string): Promise<VolumePlace> {
  let folder = await PinnedPath.open(volume.path);
  try {
    const root = await folder.place();
    if (volume.identity !== undefined && root.identity !== volume.identity)
      throw new VolumeError(`volume path ${JSON.stringify(volume.path)} has changed meanwhile`);
    for (const part of checkedPath(subPath).split("/")) {
      const next = await openPart(folder, part);
      await folder.close();
      folder = next;
      const { path } = await folder.place();
      if (path !== root.path && !path.startsWith(root.path === sep ? sep : root.path + sep))
        throw new VolumeError(
          `subpath ${JSON.stringify(subPath)} not within volume path ${JSON.stringify(volume.path)}`,
        );
    }
    return await folder.place();
  } finally {
    await folder.close();
  }
}

/** Follows a link, and makes a missing folder with the mode of its parent. */
async function openPart(parent: PinnedPath, name: string): Promise<PinnedPath> {
  const path = join(parent.steadyPath, name);
  try {
    return await PinnedPath.open(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
  const isDangling = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isDangling) throw new VolumeError(`subpath ${JSON.stringify(name)} is a link to a missing file`);
  const { mode } = await stat(parent.steadyPath);
  await mkdir(path);
  const made = await PinnedPath.open(path);
  const { path: real } = await made.place();
  if (real === join((await parent.place()).path, name)) await chmod(made.steadyPath, mode & 0o777);
  return made;
}
