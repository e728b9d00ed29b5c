/**
 * Records the files that simple scripts create in volumes, for scripts that check for them later. Files in an
 * emptyDir last as long as the pod, files in a hostPath as long as this process. The state of all other files
 * is unknown.
 */
import { posix } from "node:path";
import type { Volume, VolumeMount } from "../../api/generated/types/core-v1.ts";
import type { ContainerPlace } from "../runtime-handler.ts";
import type { TimeSpan } from "./time-span.ts";

/** Upper bound of the files of one pod or node; further files are not recorded. */
const FILES_MAX = 1000;

/** Owner of a file, and its name there. */
interface FileIdentity {
  readonly owner: string;
  readonly name: string;
}

export class VolumeFiles {
  /** Absolute times in which each file exists. */
  readonly #owners = new Map<string, Map<string, TimeSpan>>();

  /** Whether the file exists at that time; undefined when that is unknown. */
  isThere(place: ContainerPlace, path: string, at: number): boolean | undefined {
    const identity = findIdentity(place, path);
    if (identity === undefined) return undefined;
    const span = this.#owners.get(identity.owner)?.get(identity.name);
    return span !== undefined && at >= span.fromMs && at < span.untilMs;
  }

  /** Records the files of a run, with their times if no stop ends it earlier. */
  begin(place: ContainerPlace, made: ReadonlyMap<string, TimeSpan>, startedAt: number): void {
    for (const [path, { fromMs, untilMs }] of made) {
      if (this.isThere(place, path, startedAt) === false)
        this.#note(findIdentity(place, path), { fromMs: startedAt + fromMs, untilMs: startedAt + untilMs });
    }
  }

  /** Cancels creations and removals after the end of the run. */
  end(place: ContainerPlace, made: ReadonlyMap<string, TimeSpan>, endedAt: number): void {
    for (const path of made.keys()) {
      const { owner = "", name = "" } = findIdentity(place, path) ?? {};
      const files = this.#owners.get(owner);
      const span = files?.get(name);
      if (span === undefined) continue;
      if (span.fromMs > endedAt) files?.delete(name);
      else if (span.untilMs > endedAt) files?.set(name, { ...span, untilMs: Infinity });
    }
  }

  forget(uid: string): void {
    this.#owners.delete(ownerOf("pod", uid));
  }

  #note(identity: FileIdentity | undefined, span: TimeSpan): void {
    if (identity === undefined) return;
    const files = this.#owners.get(identity.owner) ?? new Map<string, TimeSpan>();
    if (files.size >= FILES_MAX && !files.has(identity.name)) return;
    this.#owners.set(identity.owner, files.set(identity.name, span));
  }
}

function findIdentity({ node, pod, container }: ContainerPlace, path: string): FileIdentity | undefined {
  const mount = mountOf(container.volumeMounts ?? [], path);
  if (mount === undefined) return undefined;
  const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
  if (volume === undefined) return undefined;
  const file = posix.join(mount.subPath ?? "", path.slice(mount.mountPath.length));
  return identityIn(volume, { node, uid: pod.metadata.uid, file });
}

/** The innermost mount above the path. Undefined when its path depends on variables. */
function mountOf(mounts: readonly VolumeMount[], path: string): VolumeMount | undefined {
  let found: VolumeMount | undefined;
  for (const mount of mounts) {
    const { mountPath } = mount;
    const isWithin = path.startsWith(mountPath.endsWith("/") ? mountPath : `${mountPath}/`);
    if (isWithin && mountPath.length > (found?.mountPath.length ?? 0)) found = mount;
  }
  return found?.subPathExpr === undefined ? found : undefined;
}

function identityIn(
  { name, emptyDir, hostPath }: Volume,
  { node, uid, file }: { readonly node: string; readonly uid: string; readonly file: string },
): FileIdentity | undefined {
  if (emptyDir !== undefined) return { owner: ownerOf("pod", uid), name: posix.join(name, file) };
  if (hostPath !== undefined) return { owner: ownerOf("node", node), name: posix.join(hostPath.path, file) };
  return undefined;
}

function ownerOf(kind: "pod" | "node", id: string): string {
  return `${kind}/${id}`;
}
