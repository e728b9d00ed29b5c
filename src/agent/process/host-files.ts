/** The files of this machine, for mount plans. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isMissing } from "../logs/log-files.ts";
import type { HostFiles } from "./mount-plan.ts";

/** Position of the mount point in a line of /proc/self/mountinfo. */
const MOUNT_POINT = 4;
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
  mountsBelow(folder) {
    const points = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .map((line) =>
        (line.split(" ")[MOUNT_POINT] ?? "").replace(/\\(\d{3})/g, (_, code: string) =>
          String.fromCharCode(Number.parseInt(code, 8)),
        ),
      );
    const below = [...new Set(points)].filter((point) => point.startsWith(`${folder}/`)).toSorted();
    // A recursive bind of a mount point brings along everything below it.
    return below.filter((point) => !below.some((other) => point.startsWith(`${other}/`)));
  },
};
