/** Finds every place at which a folder of this machine appears: its file system may be mounted more than once. Pure. */
import { posix } from "node:path";
import type { MountEntry } from "../../base/process/mount-table.ts";
import { findRest } from "./mount-plan.ts";

/** The folder, without links, and the other places where it or a part of it can be seen. */
export function placesOf(folder: string, mounts: readonly MountEntry[]): readonly string[] {
  const own = findMount(folder, mounts);
  if (own === undefined) return [folder];
  const inside = posix.join(own.root, findRest(own.point, folder) ?? "");
  const others = mounts.flatMap((mount) => {
    if (mount.device !== own.device) return [];
    const [rest, part] = [findRest(mount.root, inside), findRest(inside, mount.root)];
    const place = rest === undefined ? mount.point : posix.join(mount.point, rest);
    const isSeen = (rest ?? part) !== undefined && findMount(place, mounts) === mount;
    return isSeen && findRest(folder, place) === undefined ? [place] : [];
  });
  return [folder, ...new Set(others)];
}

/** The mount that the path is on: the newest of the nearest. */
function findMount(path: string, mounts: readonly MountEntry[]): MountEntry | undefined {
  let found: MountEntry | undefined;
  for (const mount of mounts)
    if (findRest(mount.point, path) !== undefined && mount.point.length >= (found?.point.length ?? 0))
      found = mount;
  return found;
}
