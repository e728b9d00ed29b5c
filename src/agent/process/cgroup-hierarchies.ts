/** Finds the places of this machine's cgroups in which groups with limits can be made. */
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFile } from "./run-folder.ts";

/** Hierarchies in which groups may be made. */
export type Cgroups =
  | { readonly version: 1; readonly memory: string; readonly cpu: string; readonly cpuacct: string }
  | { readonly version: 2; readonly folder: string };

/** A group of version 2 as the kernel shows it. */
export interface GroupState {
  readonly folder: string;
  readonly isWritable: boolean;
  /** Controllers that the group may pass on to its children, and those that it does pass on. */
  readonly available: readonly string[];
  readonly enabled: readonly string[];
  readonly hasProcesses: boolean;
}

const ROOT = "/sys/fs/cgroup";
const CONTROLLERS = ["cpu", "memory"];

/** Undefined where no hierarchy is writable: limits are not enforced there. */
export function findCgroups(): Cgroups | undefined {
  const places = parsePlaces(readFile("/proc/self/cgroup") ?? "");
  const [memory, cpu, cpuacct] = ["memory", "cpu", "cpuacct"].map((name) => findHierarchy(places, name));
  if (memory !== undefined && cpu !== undefined && cpuacct !== undefined)
    return { version: 1, memory, cpu, cpuacct };
  const own = places.get("");
  const folder = own === undefined ? undefined : chooseGroup(groupsAbove(own).flatMap(readState));
  return folder === undefined ? undefined : { version: 2, folder };
}

/** Groups of a process by the names of their controllers, as /proc/self/cgroup has them. Version 2 has the name "". */
export function parsePlaces(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const [, names = "", ...path] = line.split(":");
      return [names, path.join(":")];
    }),
  );
}

/** Folders of the group and of all groups above it, the root first. Groups outside of the cgroup namespace are not seen. */
export function groupsAbove(path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.includes("..")) return [];
  return [ROOT, ...parts.map((_, index) => join(ROOT, ...parts.slice(0, index + 1)))];
}

/**
 * The highest group, so that a later agent in another session finds it again. Only a group without processes of its own
 * can pass on controllers, except the root, which passes them on already.
 */
export function chooseGroup(groups: readonly GroupState[]): string | undefined {
  const found = groups.find(({ isWritable, available, enabled, hasProcesses }) => {
    if (!isWritable) return false;
    if (CONTROLLERS.every((name) => enabled.includes(name))) return true;
    return !hasProcesses && CONTROLLERS.every((name) => available.includes(name));
  });
  return found?.folder;
}

/** Nothing for a group that cannot be read, for example one of threads. */
function readState(folder: string): readonly GroupState[] {
  const files = ["cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"];
  try {
    const [available = [], enabled = [], processes = []] = files.map((file) =>
      readFileSync(join(folder, file), "utf8")
        .split(/\s+/)
        .filter((word) => word !== ""),
    );
    const changed = ["", ...files.slice(1)].map((file) => join(folder, file));
    return [
      {
        folder,
        isWritable: changed.every(isWritable),
        available,
        enabled,
        hasProcesses: processes.length > 0,
      },
    ];
  } catch (error) {
    if (error instanceof Error && "code" in error) return [];
    throw error;
  }
}

function findHierarchy(places: ReadonlyMap<string, string>, controller: string): string | undefined {
  const [names, path = "/"] = [...places].find(([name]) => name.split(",").includes(controller)) ?? [];
  if (names === undefined) return undefined;
  for (const mount of [join(ROOT, names), join(ROOT, controller)])
    for (const folder of [join(mount, path), mount])
      if (isWritable(join(folder, "cgroup.procs"))) return folder;
  return undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
