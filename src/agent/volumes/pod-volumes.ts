/**
 * Volumes of pods as folders and files of this machine: FOLDER/UID/volumes/NAME. Files from the API are brought up to
 * date while the pod exists.
 */
import { execFile } from "node:child_process";
import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PersistentVolume, Pod, Volume } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import type { Log } from "../../base/log/log.ts";
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { mountPointsIn } from "../../base/process/mount-table.ts";
import type { Client } from "../../client/client.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import { neededVolumes } from "../pod/config-needs.ts";
import { giveTo, replaceFiles } from "./atomic-folder.ts";
import { downwardPayload } from "./downward-files.ts";
import { setUpHostPath, VOLUME_FOLDER } from "./host-path.ts";
import { ObjectWatches } from "./object-watches.ts";
import {
  VolumeError,
  checkedPath,
  configMapPayload,
  joinedPayload,
  secretPayload,
  type Payload,
  type PayloadFile,
} from "./payload.ts";
import type { VolumePlace } from "./pinned-path.ts";
import { PodTokens } from "./pod-tokens.ts";
import { kindOf, mountedVolumes, type VolumeKind } from "./volume-kind.ts";
import type { ObjectName, VolumeSources } from "./volume-sources.ts";

/** Interval in which the files of a pod are brought up to date without a change that is known. */
const REFRESH_MS = 60_000;
/** The same after a failure, and for objects beyond the bound of watches. */
const RETRY_MS = 10_000;
/** Pods that are brought up to date at the same time. */
const REFRESHED_TOGETHER = 8;

export interface PodVolumesParts {
  readonly loop: Loop;
  readonly log: Log;
  /** Folder of all pods, which the agent owns. */
  readonly folder: string;
  /** Data dir of the agent, which no hostPath may show. */
  readonly dataDir: string;
  readonly clientOf: (node: string) => Client;
  readonly sourcesOf: (node: string) => VolumeSources;
  /** Allocatable resources of a node. */
  readonly allocatableOf: (node: string) => Readonly<Record<string, string>>;
}

/** Place of each volume, by its name. */
export type VolumePaths = ReadonlyMap<string, VolumePlace>;

export class PodVolumes {
  readonly #parts: PodVolumesParts;
  readonly #tokens: PodTokens;
  readonly #watches: ObjectWatches;
  /** Newest version of each pod with volumes. */
  readonly #pods = new Map<string, Pod>();
  /** Time of the next refresh of each of these pods. */
  readonly #refreshAt = new Map<string, number>();
  /** Pods with a refresh that is due. */
  readonly #due = new Set<string>();
  #refreshing: Promise<void> = Promise.resolve();
  /** End of the last work on each pod's volumes, which happens one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(parts: PodVolumesParts) {
    this.#parts = parts;
    this.#tokens = new PodTokens(() => parts.loop.now());
    this.#watches = new ObjectWatches({
      ...parts,
      isNews: (node, object, version) => parts.sourcesOf(node).isNews(object, version),
      changed: (uid) => this.#refresh(uid),
    });
  }

  /** Folder of a pod's own files. */
  folderOf(uid: string): string {
    return join(this.#parts.folder, uid);
  }

  /** Brings the files of all pods up to date until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { loop } = this.#parts;
    while (!signal.aborted) {
      await pause(loop, { ms: RETRY_MS, kind: "periodic" }, signal);
      const now = loop.now();
      for (const [uid, at] of signal.aborted ? [] : this.#refreshAt) if (at <= now) this.#refresh(uid);
    }
    this.#due.clear();
    await this.#watches.end();
    await this.#refreshing;
    await Promise.allSettled(this.#turns.values());
  }

  /** Sets up the pod's volumes, or brings them up to date. Rejects with VolumeError for mistakes of the user. */
  setUp(pod: Pod): Promise<VolumePaths> {
    const { uid } = pod.metadata;
    const volumes = mountedVolumes(pod);
    if (volumes.some((volume) => kindOf(pod, volume).type === "files")) this.#follow(pod);
    return this.#inTurn(uid, async () => {
      const paths = new Map<string, VolumePlace>();
      for (const volume of volumes) paths.set(volume.name, await this.#setUpOne(pod, volume));
      return paths;
    });
  }

  /** Files of the downward API follow the pod's labels and annotations at once. */
  update(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.#pods.get(uid);
    if (before === undefined) return;
    this.#pods.set(uid, pod);
    const isChanged =
      before.metadata.labels !== pod.metadata.labels ||
      before.metadata.annotations !== pod.metadata.annotations;
    if (isChanged) this.#refresh(uid);
  }

  /** Removes the pod's files. Volumes of the host and of claims stay. */
  tearDown(uid: string): Promise<void> {
    this.#pods.delete(uid);
    this.#refreshAt.delete(uid);
    this.#watches.forget(uid);
    this.#tokens.forget(uid);
    return this.#inTurn(uid, async () => {
      const folder = this.folderOf(uid);
      for (const mount of mountPointsIn(folder)) await this.#command("umount", [mount]);
      await rm(folder, { recursive: true, force: true });
    });
  }

  #follow(pod: Pod): void {
    const { uid } = pod.metadata;
    this.#pods.set(uid, pod);
    const objects = neededVolumes(pod).flatMap(({ uses }) => uses);
    const isWatched = this.#watches.follow(uid, pod.spec.nodeName ?? "", objects);
    this.#refreshAt.set(uid, this.#parts.loop.now() + (isWatched ? REFRESH_MS : RETRY_MS));
  }

  /** Soon, together with others. */
  #refresh(uid: string): void {
    if (this.#due.add(uid).size > 1) return;
    this.#refreshing = this.#refreshing.then(() => this.#refreshDue());
  }

  async #refreshDue(): Promise<void> {
    const { loop, log } = this.#parts;
    while (this.#due.size > 0) {
      const pods = [...this.#due].flatMap((uid) => this.#pods.get(uid) ?? []);
      this.#due.clear();
      await inParallel(pods, REFRESHED_TOGETHER, async (pod) => {
        const { uid, namespace, name } = pod.metadata;
        if (!this.#pods.has(uid)) return;
        try {
          await this.setUp(pod);
        } catch (error) {
          if (!this.#pods.has(uid)) return;
          this.#refreshAt.set(uid, loop.now() + RETRY_MS);
          log.warn("cannot update the volumes of a pod; retrying in 10 s", { namespace, name, error });
        }
      });
    }
  }

  #inTurn<T>(uid: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(uid) ?? Promise.resolve();
    const after = async (): Promise<T> => this.#parts.loop.outside("volumes", work());
    const turn = before.then(after, after);
    this.#turns.set(uid, turn);
    const end = (): void => {
      if (this.#turns.get(uid) === turn) this.#turns.delete(uid);
    };
    turn.then(end, end);
    return turn;
  }

  async #setUpOne(pod: Pod, volume: Volume): Promise<VolumePlace> {
    const kind = kindOf(pod, volume);
    const path = join(this.folderOf(pod.metadata.uid), "volumes", volume.name);
    switch (kind.type) {
      case "files":
        await this.#writeFiles(pod, path, kind);
        return { path };
      case "empty":
        await this.#makeEmpty(pod, path, kind);
        return { path };
      case "host":
        return setUpHostPath(kind.path, { type: kind.pathType, own: this.#parts.dataDir });
      case "claim":
        return this.#findClaimed(pod, kind.claim);
      case "unsupported": {
        const { name } = volume;
        throw new VolumeError(`volume ${JSON.stringify(name)}: no volume plugin matched ${kind.source}`);
      }
    }
  }

  async #writeFiles(pod: Pod, path: string, kind: Extract<VolumeKind, { type: "files" }>): Promise<void> {
    const parts = await Promise.all(kind.sources.map((source) => this.#payload(pod, source, kind.mode)));
    const gid = groupOf(pod);
    const payload = joinedPayload(parts);
    const files = gid === undefined ? payload : groupReadable(payload);
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o755);
    const { loop } = this.#parts;
    const stamp = `${String(loop.now())}.${String(loop.random("volumes").below(1_000_000))}`;
    await replaceFiles(path, files, { stamp, gid });
  }

  async #payload(
    pod: Pod,
    { configMap, secret, downwardAPI, serviceAccountToken }: VolumeSource,
    mode: number,
  ): Promise<Payload> {
    const { namespace = "" } = pod.metadata;
    const node = pod.spec.nodeName ?? "";
    const sources = this.#parts.sourcesOf(node);
    if (configMap !== undefined) {
      const { name = "", items, optional: isOptional = false } = configMap;
      const object = await sources.findConfigMap({ namespace, name });
      return configMapPayload(object, { items, mode, isOptional }, name);
    }
    if (secret !== undefined) {
      const { name = "", items, optional: isOptional = false } = secret;
      const object = await sources.findSecret({ namespace, name });
      return secretPayload(object, { items, mode, isOptional }, name);
    }
    if (downwardAPI !== undefined) {
      const allocatable = this.#parts.allocatableOf(node);
      return downwardPayload(pod, { items: downwardAPI.items ?? [], mode, allocatable });
    }
    if (serviceAccountToken !== undefined) {
      const token = await this.#tokens.find(pod, serviceAccountToken, sources);
      return new Map([[checkedPath(serviceAccountToken.path), tokenFile(pod, token, mode)]]);
    }
    throw new VolumeError("no volume plugin matched a source of the projected volume");
  }

  async #makeEmpty(
    pod: Pod,
    path: string,
    { isMemory, sizeLimit }: Extract<VolumeKind, { type: "empty" }>,
  ): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const isMounted = isMemory && mountPointsIn(path).length > 0;
    if (isMemory && !isMounted && process.getuid?.() === 0) {
      const size = sizeLimit === undefined ? [] : [`size=${String(wholeNumber(sizeLimit))}`];
      await this.#command("mount", ["-t", "tmpfs", "-o", ["mode=0777", ...size].join(","), "tmpfs", path]);
    }
    const gid = groupOf(pod);
    await giveTo(path, { uid: undefined, gid });
    await chmod(path, gid === undefined ? 0o777 : 0o2777);
  }

  async #findClaimed(pod: Pod, name: string): Promise<VolumePlace> {
    const sources = this.#parts.sourcesOf(pod.spec.nodeName ?? "");
    const volume = await findBoundVolume(sources, { namespace: pod.metadata.namespace ?? "", name });
    const { path, type } = folderOf(volume);
    const { dataDir } = this.#parts;
    // The provisioner's folders are in the data dir.
    const place = await setUpHostPath(path, { type, own: dataDir, except: VOLUME_FOLDER });
    const gid = groupOf(pod);
    if (gid !== undefined) await giveTo(place.path, { uid: undefined, gid });
    return place;
  }

  async #command(program: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(program, [...args]);
  }
}

type VolumeSource = Extract<VolumeKind, { type: "files" }>["sources"][number];

async function findBoundVolume(sources: VolumeSources, key: ObjectName): Promise<PersistentVolume> {
  const claim = await sources.findClaim(key);
  const { namespace, name } = key;
  if (claim === undefined) throw new VolumeError(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
  const { volumeName = "" } = claim.spec;
  const isBound = claim.status.phase === "Bound" && volumeName !== "";
  if (!isBound) throw new VolumeError(`PVC ${namespace}/${name} is not bound`);
  const volume = await sources.findVolume(volumeName);
  if (volume === undefined) throw new VolumeError(`persistentvolume ${JSON.stringify(volumeName)} not found`);
  return volume;
}

function folderOf({ metadata, spec: { hostPath, local } }: PersistentVolume): HostPath {
  if (hostPath !== undefined) return { path: hostPath.path, type: hostPath.type };
  if (local !== undefined) return { path: local.path, type: "Directory" };
  throw new VolumeError(`no volume plugin matched PersistentVolume ${JSON.stringify(metadata.name)}`);
}

interface HostPath {
  readonly path: string;
  readonly type: string | undefined;
}

function groupOf({ spec }: Pod): number | undefined {
  const group = spec.securityContext?.fsGroup;
  return group === undefined ? undefined : plainNumber(group);
}

/** Only its reader may read a token, where the pod says which user or group that is. */
function tokenFile(pod: Pod, token: string, mode: number): PayloadFile {
  const { containers, initContainers = [], securityContext } = pod.spec;
  const users = new Set(
    [...containers, ...initContainers].map(
      (each) => each.securityContext?.runAsUser ?? securityContext?.runAsUser,
    ),
  );
  const [user] = users;
  const uid = users.size === 1 && user !== undefined ? plainNumber(user) : undefined;
  const isOwned = uid !== undefined || securityContext?.fsGroup !== undefined;
  return { data: Buffer.from(token), mode: isOwned ? 0o600 : mode, ...(uid !== undefined && { uid }) };
}

function groupReadable(payload: Payload): Payload {
  return new Map([...payload].map(([path, file]) => [path, { ...file, mode: file.mode | 0o440 }]));
}
