/**
 * Prepares containers that are programs of this machine: environment, volumes, files and log paths. Reads the API with
 * the identity of the pod's node.
 */
import { constants } from "node:fs";
import { mkdir, open, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import {
  Service,
  type ConfigMap,
  type Container,
  type Pod,
  type Secret,
} from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { environmentUses, type ConfigUse } from "../pod/config-needs.ts";
import type { ProgramSource, StartOrder } from "../pod/container-lifecycle.ts";
import { expand } from "../pod/environment.ts";
import type {
  ContainerExit,
  ContainerPlace,
  HostMount,
  LogQuery,
  Program,
  RuntimeHandler,
} from "../runtime-handler.ts";
import type { VolumePlace } from "../volumes/pinned-path.ts";
import { PodVolumes, type PodVolumesParts, type VolumePaths } from "../volumes/pod-volumes.ts";
import { findSubPath } from "../volumes/sub-path.ts";
import { mountedVolumes, kindOf, type VolumeKind } from "../volumes/volume-kind.ts";
import { hostsText } from "./hosts-file.ts";
import { PodLogs } from "./pod-logs.ts";
import { ProgramError, expandedWords, programEnvironment } from "./program-environment.ts";
import { programShape } from "./program-shape.ts";
import { serviceVariables } from "./service-variables.ts";

const HOSTS = "/etc/hosts";
const TERMINATION_LOG = "/dev/termination-log";
/** The kubelet's bounds of a termination message. */
const MESSAGE_MAX = 4096;
const LOG_MESSAGE_MAX = 2048;
const LAST_LINES: LogQuery = {
  ...{ attempt: undefined, follow: false, timestamps: false, stream: "All", tailLines: 80 },
  ...{ sinceMs: undefined, limitBytes: undefined },
};

export interface ProgramsParts extends Omit<PodVolumesParts, "folder"> {
  readonly clientOf: (node: string) => Client;
  /** Data dir of the agent, with its folders `pods` and `pods-logs`. */
  readonly dataDir: string;
}

export class Programs implements ProgramSource {
  readonly #parts: ProgramsParts;
  readonly #volumes: PodVolumes;
  readonly #logs: PodLogs;
  /** Volumes that were begun before the first container. */
  readonly #begun = new Map<string, Promise<VolumePaths>>();

  constructor(parts: ProgramsParts) {
    this.#parts = parts;
    this.#volumes = new PodVolumes({ ...parts, folder: join(parts.dataDir, "pods") });
    this.#logs = new PodLogs(join(parts.dataDir, "pods-logs"));
  }

  /** Keeps the pods' volumes up to date until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.#volumes.run(signal);
  }

  /** Begins with the pod's volumes beside its sandbox; the first container waits for both. */
  prepare(pod: Pod): void {
    const paths = this.#volumes.setUp(pod);
    // The first container tries again and reports the problem.
    paths.catch(() => this.#begun.delete(pod.metadata.uid));
    this.#begun.set(pod.metadata.uid, paths);
  }

  /** Rejects with the message of the container's status. */
  async build(order: StartOrder): Promise<Program> {
    const { pod, container } = order;
    const paths = await this.#findVolumes(pod);
    const env = await this.#environment(order);
    return this.#parts.loop.outside(
      "program",
      this.#withFiles(
        order,
        { paths, env },
        {
          command: expandedWords(container.command, env),
          args: expandedWords(container.args, env),
          env,
          ...programShape(pod, container),
        },
      ),
    );
  }

  update(pod: Pod): void {
    this.#volumes.update(pod);
  }

  /** Removes the pod's files, but not its logs. */
  tearDown(uid: string): Promise<void> {
    this.#begun.delete(uid);
    return this.#volumes.tearDown(uid);
  }

  /** The log of a run that its handler no longer knows; undefined if there is none. */
  readLog(place: ContainerPlace, query: LogQuery): Promise<Readable | undefined> {
    return this.#parts.loop.outside("program", this.#logs.read(place, query));
  }

  removeLogs(pod: Pod): Promise<void> {
    return this.#parts.loop.outside("program", this.#logs.remove(pod));
  }

  /** Removes the files of pods that are gone; `alive` holds the uids of the others. */
  async sweep(alive: ReadonlySet<string>): Promise<void> {
    const names = async (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
    const { loop, dataDir } = this.#parts;
    const pods = await loop.outside("program", names(join(dataDir, "pods")));
    for (const uid of pods) if (!alive.has(uid)) await this.tearDown(uid);
    await loop.outside("program", this.#logs.sweep(alive));
  }

  /** The message that the container left, or the end of its log. */
  async findMessage(
    handler: Pick<RuntimeHandler, "logs">,
    place: ContainerPlace,
    { exitCode }: ContainerExit,
  ): Promise<string | undefined> {
    const { pod, container } = place;
    const file = this.#terminationFile(pod.metadata.uid, container);
    const left = await this.#parts.loop.outside("program", lastBytes(file, MESSAGE_MAX));
    if (left !== undefined && left !== "") return left;
    if (container.terminationMessagePolicy !== "FallbackToLogsOnError" || exitCode === 0) return undefined;
    const log = await handler.logs(place, LAST_LINES);
    const text = log === undefined ? "" : await this.#parts.loop.outside("program", textOf(log));
    return text === "" ? undefined : text.slice(-LOG_MESSAGE_MAX);
  }

  async #findVolumes(pod: Pod): Promise<VolumePaths> {
    const { uid } = pod.metadata;
    const begun = this.#begun.get(uid);
    this.#begun.delete(uid);
    return (await begun?.catch(() => undefined)) ?? this.#volumes.setUp(pod);
  }

  async #environment({ node, pod, container, addresses }: StartOrder): Promise<ReadonlyMap<string, string>> {
    const sources = this.#parts.sourcesOf(node);
    const { namespace = "" } = pod.metadata;
    const configMaps = new Map<string, ConfigMap>();
    const secrets = new Map<string, Secret>();
    const read = async ({ kind, name }: ConfigUse): Promise<void> => {
      const key = { namespace, name };
      const found = await (kind === "secret" ? sources.findSecret(key) : sources.findConfigMap(key));
      if (found?.kind === "Secret") secrets.set(name, found);
      if (found?.kind === "ConfigMap") configMaps.set(name, found);
    };
    await Promise.all(environmentUses(pod, container).map(read));
    const services = serviceVariables(await this.#services(node, pod));
    const allocatable = this.#parts.allocatableOf(node);
    return programEnvironment({ pod, container, addresses, allocatable, services, configMaps, secrets });
  }

  /** Services of the namespace, and the API server's. */
  async #services(node: string, { metadata, spec }: Pod): Promise<readonly Service[]> {
    const services = this.#parts.clientOf(node)(Service);
    const own =
      spec.enableServiceLinks === false
        ? []
        : (await services.list({ namespace: metadata.namespace ?? "" })).items;
    if (own.some((each) => isApiServer(each))) return own;
    const server = await services.find({ namespace: "default", name: "kubernetes" });
    return server === undefined ? own : [...own, server];
  }

  async #withFiles(
    order: StartOrder,
    { paths, env }: { readonly paths: VolumePaths; readonly env: ReadonlyMap<string, string> },
    program: Omit<Program, "mounts" | "logPath">,
  ): Promise<Program> {
    const logPath = await this.#logs.make(order, order.attempt);
    const volumes = await volumeMounts(order, paths, env);
    const own = await this.#ownMounts(order);
    const taken = new Set(volumes.map(({ containerPath }) => containerPath));
    return {
      ...program,
      mounts: [...volumes, ...own.filter(({ containerPath }) => !taken.has(containerPath))],
      logPath,
    };
  }

  /** The agent's own files in every container. */
  async #ownMounts({ pod, container, addresses }: StartOrder): Promise<readonly HostMount[]> {
    const hosts = join(this.#volumes.folderOf(pod.metadata.uid), "etc-hosts");
    const machine = pod.spec.hostNetwork === true ? await readFile(HOSTS, "utf8").catch(() => "") : "";
    await mkdir(dirname(hosts), { recursive: true, mode: 0o700 });
    await writeFile(hosts, hostsText({ pod, machine, addresses: addresses.addresses }), {
      mode: 0o644,
    });
    const termination = this.#terminationFile(pod.metadata.uid, container);
    await mkdir(dirname(termination), { recursive: true, mode: 0o700 });
    await rm(termination, { force: true });
    const file = await open(termination, "w", 0o666);
    await file.chmod(0o666);
    await file.close();
    return [
      ownMount(hosts, HOSTS),
      ownMount(termination, container.terminationMessagePath ?? TERMINATION_LOG),
    ];
  }

  #terminationFile(uid: string, { name }: Container): string {
    return join(this.#volumes.folderOf(uid), "containers", name, "termination-log");
  }
}

function isApiServer({ metadata }: Service): boolean {
  return metadata.namespace === "default" && metadata.name === "kubernetes";
}

function ownMount(hostPath: string, containerPath: string): HostMount {
  return { volume: undefined, hostPath, containerPath, readOnly: false, propagation: "None" };
}

/** Whether no container may write to the volume. */
function isFixed(kind: VolumeKind): boolean {
  return kind.type === "files" || (kind.type === "claim" && kind.readOnly);
}

async function volumeMounts(
  { pod, container }: StartOrder,
  paths: VolumePaths,
  env: ReadonlyMap<string, string>,
): Promise<readonly HostMount[]> {
  const fixedVolumes = new Set(
    mountedVolumes(pod).flatMap((volume) => (isFixed(kindOf(pod, volume)) ? [volume.name] : [])),
  );
  const mounts: HostMount[] = [];
  for (const { name, mountPath, readOnly = false, mountPropagation, ...part } of container.volumeMounts ??
    []) {
    const place = paths.get(name);
    if (place === undefined)
      throw new ProgramError(
        `cannot find volume ${JSON.stringify(name)} to mount into container ${JSON.stringify(container.name)}`,
      );
    const subPath =
      part.subPathExpr === undefined ? (part.subPath ?? "") : (expand(part.subPathExpr, env) ?? "");
    mounts.push({
      volume: name,
      ...mountedPlace(subPath === "" ? place : await findSubPath(place, subPath)),
      containerPath: mountPath,
      readOnly: readOnly || fixedVolumes.has(name),
      propagation:
        mountPropagation === "Bidirectional" || mountPropagation === "HostToContainer"
          ? mountPropagation
          : "None",
    });
  }
  return mounts;
}

function mountedPlace({ path, identity }: VolumePlace): Pick<HostMount, "hostPath" | "identity"> {
  return { hostPath: path, identity };
}

/** Undefined if there is no such file. */
async function lastBytes(path: string, max: number): Promise<string | undefined> {
  // A program of the same user could have put a link or a pipe in its place.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    const { size } = found;
    const length = Math.min(size, max);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
