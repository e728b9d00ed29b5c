/** The files of this machine, for mount plans. */
import { realpathSync, statSync } from "node:fs";
import { readMounts } from "../../base/process/mount-table.ts";
import { isMissing } from "../logs/log-files.ts";
import { placesOf } from "./hidden-places.ts";
import type { HostFiles } from "./mount-plan.ts";

const PERMISSIONS = 0o7777;

export const hostFiles: HostFiles = {
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? "folder" : "file";
    } catch (error) {
      if (isMissing(error) || (error instanceof Error && "code" in error && error.code === "ENOTDIR"))
        return undefined;
      throw error;
    }
  },
  resolve: (path) => realpathSync(path),
  modeOf: (path) => statSync(path).mode & PERMISSIONS,
  identityOf(path) {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${String(dev)}:${String(ino)}`;
  },
  mountsBelow(folder) {
    const points = readMounts().map(({ point }) => point);
    const below = [...new Set(points)].filter((point) => point.startsWith(`${folder}/`)).toSorted();
    // A recursive bind of a mount point brings along everything below it.
    return below.filter((point) => !below.some((other) => point.startsWith(`${other}/`)));
  },
};

/** Folders in which the folder or a part of it can be seen. */
export function machinePlacesOf(folder: string): readonly string[] {
  return placesOf(realpathSync(folder), readMounts()).filter((place) => hostFiles.kindOf(place) === "folder");
}
