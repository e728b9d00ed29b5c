/**
 * Decides how the mounts of a container appear in its mount namespace without a trace on the machine's own folders.
 *
 * A mount point that exists is mounted over. Below an existing folder, a missing mount point is made in an overlay of
 * that folder. Directly below `/`, it is made in a new root, into which all entries of the old one are bound.
 */
import { posix } from "node:path";
import type { HostMount } from "../runtime-handler.ts";

export type PathKind = "file" | "folder";

/** The machine's files. */
export interface HostFiles {
  /** Undefined for a missing path; links are followed. */
  kindOf(path: string): PathKind | undefined;
  /** The path without links; only for an existing path. */
  resolve(path: string): string;
  /** Permission bits of an existing path. */
  modeOf(path: string): number;
  /** Device and inode of an existing path, as in `41:77`; links are followed. */
  identityOf(path: string): string;
  /** Mount points below the folder, parents first. */
  mountsBelow(folder: string): readonly string[];
}

export type MountStep =
  | {
      readonly type: "overlay";
      readonly folder: string;
      /** Permission bits of the folder. */
      readonly mode: number;
      readonly submounts: readonly string[];
    }
  | {
      readonly type: "make";
      readonly path: string;
      readonly kind: PathKind;
      /** Existing folder of a volume above the path. Programs of the pod make links in volumes: none may lead to the path. */
      readonly base: string | undefined;
    }
  | {
      readonly type: "bind";
      readonly mount: HostMount;
      readonly path: string;
      /** The source must still be this one when it is mounted, and no link may lead to the path. Undefined: nothing can change. */
      readonly identity: string | undefined;
    };

export interface MountPlan {
  /** Whether mount points directly below `/` are missing. */
  readonly needsRoot: boolean;
  readonly steps: readonly MountStep[];
  /** Paths in the container where it would see folders that it must not see. */
  readonly hidden: readonly string[];
}

/** `hidden` are folders of the machine, without links. Throws for a source that does not exist. */
export function planMounts(
  mounts: readonly HostMount[],
  files: HostFiles,
  hidden: readonly string[] = [],
): MountPlan {
  const planner = new MountPlanner(files);
  const byDepth = mounts.toSorted((a, b) => depthOf(a.containerPath) - depthOf(b.containerPath));
  for (const mount of byDepth) planner.add(mount);
  return planner.finish(hidden);
}

class MountPlanner {
  readonly #files: HostFiles;
  readonly #steps: MountStep[] = [];
  /** Paths in the container and the folder of the machine that is bound there. */
  readonly #bound = new Map<string, string>();
  readonly #overlays = new Set<string>();
  #needsRoot = false;

  constructor(files: HostFiles) {
    this.#files = files;
  }

  finish(hidden: readonly string[]): MountPlan {
    const places = hidden.flatMap((folder) => [
      ...(this.#ownerOf(folder) === undefined ? [folder] : []),
      ...[...this.#bound].flatMap(([path, source]) => {
        const rest = findRest(this.#files.resolve(source), folder);
        const place = posix.join(path, rest ?? "");
        return rest !== undefined && this.#ownerOf(place) === path ? [place] : [];
      }),
    ]);
    return { needsRoot: this.#needsRoot, steps: this.#steps, hidden: places };
  }

  add(mount: HostMount): void {
    const kind = this.#files.kindOf(mount.hostPath);
    if (kind === undefined) throw new Error(`mount source ${mount.hostPath} does not exist`);
    const wanted = posix.join("/", mount.containerPath);
    if (this.#kindOf(wanted) === undefined) this.#make(wanted, kind);
    const path = this.#resolve(wanted);
    const isInVolume = this.#ownerOf(path) !== undefined;
    const identity = mount.identity ?? (isInVolume ? this.#files.identityOf(mount.hostPath) : undefined);
    this.#steps.push({ type: "bind", mount, path, identity });
    this.#bound.set(path, mount.hostPath);
  }

  #make(path: string, kind: PathKind): void {
    let existing = posix.dirname(path);
    while (this.#kindOf(existing) === undefined) existing = posix.dirname(existing);
    const folder = this.#resolve(existing);
    const target = posix.join(folder, path.slice(existing.length));
    // A volume may be written to, as every runtime does for mount points in volumes.
    const isInVolume = this.#ownerOf(folder) !== undefined;
    if (!isInVolume) this.#makeRoom(folder);
    this.#steps.push({ type: "make", path: target, kind, base: isInVolume ? folder : undefined });
  }

  #makeRoom(folder: string): void {
    if (folder === "/") this.#needsRoot = true;
    else if (![...this.#overlays].some((overlay) => folder === overlay || folder.startsWith(`${overlay}/`))) {
      this.#overlays.add(folder);
      const [mode, submounts] = [this.#files.modeOf(folder), this.#files.mountsBelow(folder)];
      this.#steps.push({ type: "overlay", folder, mode, submounts });
    }
  }

  /** As the container sees it after the steps so far. */
  #kindOf(path: string): PathKind | undefined {
    if (this.#steps.some((step) => step.type === "make" && isWithin(path, step.path))) return "folder";
    return this.#files.kindOf(this.#sourceOf(path) ?? path);
  }

  #resolve(path: string): string {
    const source = this.#sourceOf(path);
    if (source !== undefined || this.#files.kindOf(path) === undefined) {
      const parent = posix.dirname(path);
      return parent === path ? path : posix.join(this.#resolve(parent), posix.basename(path));
    }
    return this.#files.resolve(path);
  }

  /** Path on the machine of a path inside a bound folder. */
  #sourceOf(path: string): string | undefined {
    const owner = this.#ownerOf(path);
    return owner && posix.join(this.#bound.get(owner) ?? "", path.slice(owner.length));
  }

  /** The mount point at or above the path. */
  #ownerOf(path: string): string | undefined {
    for (let folder = path; ; folder = posix.dirname(folder)) {
      if (this.#bound.has(folder)) return folder;
      if (folder === "/") return undefined;
    }
  }
}

/** Path of the folder below another one; undefined if it is not there. */
export function findRest(above: string, folder: string): string | undefined {
  if (folder === above) return "";
  const start = above === "/" ? above : `${above}/`;
  return folder.startsWith(start) ? folder.slice(start.length) : undefined;
}

/** Whether the made path is at or below the path. */
function isWithin(path: string, made: string): boolean {
  return made === path || made.startsWith(`${path}/`);
}

function depthOf(path: string): number {
  return posix
    .normalize(path)
    .split("/")
    .filter((part) => part !== "").length;
}
