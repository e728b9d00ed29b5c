/**
 * Files that plain scripts have made in volumes, for the scripts that look for them later: in an emptyDir until its pod is gone, in a hostPath on the
 * same node as long as this process runs. Of other volumes, and of files outside of volumes, nothing is known.
 */
import { posix } from "node:path";
import type { Volume, VolumeMount } from "../../api/generated/types/core-v1.ts";
import type { ContainerPlace } from "../container-runtime.ts";
import type { Span } from "./span.ts";

/** Of one pod, or one node; further ones are not remembered. */
const FILES_MAX = 1000;

/** Who has a file, and under which name. */
interface FileIdentity {
  readonly owner: string;
  readonly name: string;
}

export class VolumeFiles {
  /** When each file is there, in absolute time. */
  readonly #owners = new Map<string, Map<string, Span>>();

  /** Whether the file is there at that time; undefined when nothing is known of it. */
  isThere(place: ContainerPlace, path: string, at: number): boolean | undefined {
    const identity = findIdentity(place, path);
    if (identity === undefined) return undefined;
    const span = this.#owners.get(identity.owner)?.get(identity.name);
    return span !== undefined && at >= span.fromMs && at < span.untilMs;
  }

  /** What a run makes, and when, if nothing ends it before. */
  begin(place: ContainerPlace, made: ReadonlyMap<string, Span>, startedAt: number): void {
    for (const [path, { fromMs, untilMs }] of made) {
      if (this.isThere(place, path, startedAt) === false)
        this.#note(findIdentity(place, path), { fromMs: startedAt + fromMs, untilMs: startedAt + untilMs });
    }
  }

  /** What a run would have made or removed later does not happen. */
  end(place: ContainerPlace, made: ReadonlyMap<string, Span>, endedAt: number): void {
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

  #note(identity: FileIdentity | undefined, span: Span): void {
    if (identity === undefined) return;
    const files = this.#owners.get(identity.owner) ?? new Map<string, Span>();
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

/** The one that covers the others. Where it leads must be said plainly. */
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
