/** The mounts of this machine, from Linux' table. */
import { readFileSync } from "node:fs";

export interface MountEntry {
  /** Major and minor number of the file system. */
  readonly device: string;
  /** Folder of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
}

/** Positions in a line of /proc/self/mountinfo. */
const [DEVICE, ROOT, POINT] = [2, 3, 4];

/** Parents first; empty on other systems. */
export function readMounts(): readonly MountEntry[] {
  return process.platform === "linux" ? parseMounts(readFileSync("/proc/self/mountinfo", "utf8")) : [];
}

export function parseMounts(table: string): readonly MountEntry[] {
  return table.split("\n").flatMap((line) => {
    const words = line.split(" ");
    const [device, root, point] = [words[DEVICE], words[ROOT], words[POINT]];
    if (device === undefined || root === undefined || point === undefined) return [];
    return [{ device, root: unescaped(root), point: unescaped(point) }];
  });
}

/** Mount points at the folder and below it, the newest first: the order in which they can be unmounted. */
export function mountPointsIn(folder: string): readonly string[] {
  return readMounts()
    .map(({ point }) => point)
    .filter((point) => point === folder || point.startsWith(`${folder}/`))
    .toReversed();
}

/** The kernel writes spaces and backslashes of a path in octal. */
function unescaped(path: string): string {
  return path.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
