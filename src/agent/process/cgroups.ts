/** Control groups of containers: limits, usage, and the reason of an end for lack of memory. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramLimits } from "../runtime-handler.ts";
import type { Cgroups } from "./cgroup-hierarchies.ts";
import { limitFiles, type Controller } from "./cgroup-limits.ts";

export interface CgroupUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
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
    if (this.#cgroups.version === 2) this.#delegate(this.#cgroups.folder);
    for (const { controller, file, value } of limitFiles(this.#cgroups.version, limits))
      writeFileSync(this.#file(controller, file), value);
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

  /** Controllers reach a group only if each group above it passes them on. */
  #delegate(base: string): void {
    let path = base;
    for (const part of this.#name.split("/")) {
      writeFileSync(join(path, "cgroup.subtree_control"), "+cpu +memory");
      path = join(path, part);
    }
  }

  #file(controller: Controller, file: string): string {
    const base = this.#cgroups.version === 2 ? this.#cgroups.folder : this.#cgroups[controller];
    return join(base, this.#name, file);
  }

  #read(controller: Controller, file: string): string | undefined {
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
