/** Control groups of containers: limits, usage, and the reason of an end for lack of memory. */
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramLimits } from "../runtime-handler.ts";
import { readFile } from "./run-folder.ts";

const ROOT = "/sys/fs/cgroup";
const PERIOD_MICROS = 100_000;
/** The kernel refuses a smaller quota. */
const MIN_QUOTA_MICROS = 1000;
const MIN_SHARES = 2;
const SHARES_PER_CPU = 1024;
const MAX_WEIGHT = 10_000;

/** Hierarchies in which groups may be made. */
export type Cgroups =
  | { readonly version: 1; readonly memory: string; readonly cpu: string; readonly cpuacct: string }
  | { readonly version: 2; readonly folder: string };

export interface CgroupUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Undefined where no hierarchy is writable: limits are not enforced there. */
export function findCgroups(): Cgroups | undefined {
  const own = readFile("/proc/self/cgroup");
  if (own === undefined) return undefined;
  const places = new Map(
    own.split("\n").map((line) => {
      const [, names = "", path = "/"] = line.split(":");
      return [names, path] as const;
    }),
  );
  const [memory, cpu, cpuacct] = ["memory", "cpu", "cpuacct"].map((name) => findHierarchy(places, name));
  if (memory !== undefined && cpu !== undefined && cpuacct !== undefined)
    return { version: 1, memory, cpu, cpuacct };
  const controllers = readFile(join(ROOT, "cgroup.subtree_control"))?.trim().split(" ") ?? [];
  if (!isWritable(ROOT) || !["cpu", "memory"].every((name) => controllers.includes(name))) return undefined;
  return { version: 2, folder: ROOT };
}

function findHierarchy(places: ReadonlyMap<string, string>, controller: string): string | undefined {
  const [names, path = "/"] = [...places].find(([name]) => name.split(",").includes(controller)) ?? [];
  if (names === undefined) return undefined;
  for (const mount of [join(ROOT, names), join(ROOT, controller)])
    for (const folder of [join(mount, path), mount]) if (isWritable(folder)) return folder;
  return undefined;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Group of one container, for example `setpoint-4f1c/UID/web`. */
export class Cgroup {
  readonly #cgroups: Cgroups;
  readonly #name: string;

  constructor(cgroups: Cgroups, name: string) {
    this.#cgroups = cgroups;
    this.#name = name;
  }

  /** Files that a process writes itself into. */
  get joinFiles(): readonly string[] {
    return this.#folders().map((folder) => join(folder, "cgroup.procs"));
  }

  make(limits: ProgramLimits): void {
    for (const folder of this.#folders()) mkdirSync(folder, { recursive: true });
    if (this.#cgroups.version === 2) this.#delegate();
    this.setLimits(limits);
  }

  setLimits({ memoryLimitBytes, cpuLimitMillis, cpuRequestMillis }: ProgramLimits): void {
    const quota = Math.max(MIN_QUOTA_MICROS, ((cpuLimitMillis ?? 0) * PERIOD_MICROS) / 1000);
    const shares = Math.max(MIN_SHARES, Math.round(((cpuRequestMillis ?? 0) * SHARES_PER_CPU) / 1000));
    if (this.#cgroups.version === 1) {
      this.#write("memory", "memory.limit_in_bytes", String(memoryLimitBytes ?? -1));
      this.#write("cpu", "cpu.cfs_quota_us", String(cpuLimitMillis === undefined ? -1 : quota));
      this.#write("cpu", "cpu.shares", String(shares));
      return;
    }
    this.#write("folder", "memory.max", String(memoryLimitBytes ?? "max"));
    this.#write(
      "folder",
      "cpu.max",
      `${cpuLimitMillis === undefined ? "max" : String(quota)} ${String(PERIOD_MICROS)}`,
    );
    this.#write(
      "folder",
      "cpu.weight",
      String(Math.min(MAX_WEIGHT, Math.max(1, Math.round((shares * 100) / SHARES_PER_CPU)))),
    );
  }

  /** Undefined after the group was removed. */
  usage(): CgroupUsage | undefined {
    const isOld = this.#cgroups.version === 1;
    const memory = this.#read("memory", isOld ? "memory.usage_in_bytes" : "memory.current");
    const stat = this.#read("memory", "memory.stat");
    const cpu = this.#read("cpuacct", isOld ? "cpuacct.usage" : "cpu.stat");
    if (memory === undefined || stat === undefined || cpu === undefined) return undefined;
    const idleLine = isOld ? /^total_inactive_file (\d+)/m : /^inactive_file (\d+)/m;
    const idle = Number(idleLine.exec(stat)?.[1] ?? 0);
    const cpuSeconds = isOld ? Number(cpu) / 1e9 : Number(/^usage_usec (\d+)/m.exec(cpu)?.[1] ?? 0) / 1e6;
    return { cpuSeconds, memoryBytes: Math.max(0, Number(memory) - idle) };
  }

  /** Whether the kernel killed a process of the group for lack of memory. */
  wasOutOfMemory(): boolean {
    const events = this.#read("memory", this.#cgroups.version === 1 ? "memory.oom_control" : "memory.events");
    return Number(/^oom_kill (\d+)/m.exec(events ?? "")?.[1] ?? 0) > 0;
  }

  processes(): readonly number[] {
    return (this.#read("memory", "cgroup.procs") ?? "")
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 0);
  }

  /** The group must be empty; parents go with their last child. */
  remove(): void {
    for (const folder of this.#folders()) {
      let path = folder;
      for (const _ of this.#name.split("/")) {
        if (!removeFolder(path)) break;
        path = join(path, "..");
      }
    }
  }

  #folders(): readonly string[] {
    const bases =
      this.#cgroups.version === 2
        ? [this.#cgroups.folder]
        : [this.#cgroups.memory, this.#cgroups.cpu, this.#cgroups.cpuacct];
    return [...new Set(bases)].map((base) => join(base, this.#name));
  }

  /** Controllers reach a group only if each parent passes them on. */
  #delegate(): void {
    if (this.#cgroups.version !== 2) return;
    let path = this.#cgroups.folder;
    for (const part of this.#name.split("/").slice(0, -1)) {
      path = join(path, part);
      writeFileSync(join(path, "cgroup.subtree_control"), "+cpu +memory");
    }
  }

  #file(controller: "memory" | "cpu" | "cpuacct" | "folder", file: string): string {
    const cgroups = this.#cgroups;
    const base =
      cgroups.version === 2 ? cgroups.folder : cgroups[controller === "folder" ? "memory" : controller];
    return join(base, this.#name, file);
  }

  #write(controller: "memory" | "cpu" | "folder", file: string, value: string): void {
    writeFileSync(this.#file(controller, file), value);
  }

  #read(controller: "memory" | "cpuacct", file: string): string | undefined {
    try {
      return readFileSync(this.#file(controller, file), "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENODEV"))
        return undefined;
      throw error;
    }
  }
}

/** False if it holds processes or groups. */
function removeFolder(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return error.code === "ENOENT";
    throw error;
  }
}
