/**
 * A runtime whose containers are records and a few timers instead of processes. `behaviourOf` determines
 * their behaviour, so that equal pods behave equally at any place and time.
 */
import type { Duplex, Readable } from "node:stream";
import type { Container, ContainerStatus, Pod, Probe } from "../../api/generated/types/core-v1.ts";
import type { Loop, Random, TimerKind } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";
import { findSimulated, simulatedUsage } from "../../resources/pod/simulated-annotations.ts";
import { PodAddresses } from "../node/pod-addresses.ts";
import type {
  AttachRequest,
  ContainerKey,
  ContainerPlace,
  ContainerProber,
  ContainerReport,
  ContainerStart,
  ContainerUsage,
  ExecRequest,
  FoundContainer,
  FoundSandbox,
  LogQuery,
  PodUsage,
  ProbeType,
  RuntimeHandler,
  RuntimeListener,
  SandboxSpec,
  StopOrder,
  StreamSession,
} from "../runtime-handler.ts";
import type { TimerQueue, ScheduledCall } from "../timer-queue.ts";
import {
  behaviourOf,
  behaviourProblems,
  hasAnnotatedReadiness,
  type Behaviour,
  type FileView,
} from "./behaviour.ts";
import { findPullError, imageIdentity } from "./image-registry.ts";
import { findNextChange, isWithin } from "./probe-schedule.ts";
import { SimulatedStreams, type RunningContainer } from "./simulated-streams.ts";
import type { TimeSpan } from "./time-span.ts";
import { VolumeFiles } from "./volume-files.ts";

/** A virtual loop does not wait for exits beyond this time before it settles. */
const SOON_MS = 60_000;
/** Upper bound of the images on a node; the first one pulled is dropped first. */
const IMAGES_MAX = 100;
const NO_ADDRESS = "no IP addresses available in range set";
/** 128 + SIGKILL. */
const KILLED_CODE = 137;
/** Probe of a container whose readiness is set by annotation only. */
const ANNOTATION_PROBE: Probe = { periodSeconds: 1, failureThreshold: 1, successThreshold: 1 };

interface Probing {
  readonly sinceMs: number;
  last: "success" | "failure" | undefined;
  due: ScheduledCall | undefined;
}

interface SimulatedContainer {
  place: ContainerPlace;
  behaviour: Behaviour;
  /** Files at the creation of the container: files that it creates later do not change its behaviour. */
  readonly isThere: FileView;
  state: "pulling" | "starting" | "running";
  id: string;
  startedAt: number;
  attempt: number;
  /** Set by a stop request. */
  ending: { readonly at: number; readonly exitCode: number } | undefined;
  due: ScheduledCall | undefined;
  readonly probes: Map<ProbeType, Probing>;
}

export interface SimulatedHandlerParts {
  readonly loop: Loop;
  readonly timers: TimerQueue;
  readonly listener: RuntimeListener;
}

interface Sandbox {
  readonly node: string;
  /** Taken from the node's blocks. */
  readonly addresses: readonly string[];
}

export class SimulatedHandler implements RuntimeHandler, ContainerProber {
  readonly name = "simulated";
  readonly runsPrograms = false;
  readonly prober = this;
  readonly #loop: Loop;
  readonly #timers: TimerQueue;
  readonly #listener: RuntimeListener;
  readonly #ids: Random;
  readonly #images = new Map<string, Set<string>>();
  readonly #addresses = new Map<string, PodAddresses>();
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #pods = new Map<string, Map<string, SimulatedContainer>>();
  readonly #files = new VolumeFiles();
  readonly #streams: SimulatedStreams;

  constructor({ loop, timers, listener }: SimulatedHandlerParts) {
    this.#loop = loop;
    this.#timers = timers;
    this.#listener = listener;
    this.#ids = loop.random("container-ids");
    this.#streams = new SimulatedStreams(loop);
  }

  run(signal: AbortSignal): Promise<void> {
    return untilAborted(signal);
  }

  /** A new process has no containers yet: `adopt` makes them from the pods' statuses. */
  list(): Promise<readonly FoundSandbox[]> {
    return Promise.resolve([]);
  }

  /** The status is the only trace of a simulated container. */
  adopt({ node, pod, podCidrs, addresses }: SandboxSpec): FoundSandbox | undefined {
    const { uid } = pod.metadata;
    if (addresses.length === 0) return undefined;
    const isOwn = pod.spec.hostNetwork !== true;
    if (isOwn) this.#addressesOf(node).keep(podCidrs, addresses);
    this.#sandboxes.set(uid, { node, addresses: isOwn ? addresses : [] });
    const {
      initContainerStatuses = [],
      containerStatuses = [],
      ephemeralContainerStatuses = [],
    } = pod.status;
    const containers = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
    return { uid, addresses, containers: containers.flatMap((status) => this.#adopted(node, pod, status)) };
  }

  createSandbox({ node, pod, podCidrs, hostAddresses }: SandboxSpec): void {
    const { uid } = pod.metadata;
    const isOwn = pod.spec.hostNetwork !== true;
    const taken = isOwn ? this.#addressesOf(node).take(podCidrs) : [];
    if (taken === undefined)
      return this.#listener.sandbox(uid, { type: "sandbox-failed", message: NO_ADDRESS });
    this.#sandboxes.set(uid, { node, addresses: taken });
    const addresses = isOwn ? taken : hostAddresses;
    return this.#listener.sandbox(uid, { type: "sandbox-ready", addresses });
  }

  removeSandbox(uid: string): void {
    const sandbox = this.#sandboxes.get(uid);
    if (sandbox !== undefined) this.#addressesOf(sandbox.node).free(sandbox.addresses);
    this.#sandboxes.delete(uid);
    for (const container of this.#pods.get(uid)?.values() ?? []) this.#dismiss(container);
    this.#pods.delete(uid);
    this.#files.forget(uid);
    this.#listener.sandbox(uid, { type: "sandbox-removed" });
  }

  /** The pull policy Never implies that the image is already loaded. */
  findImage({ node, pod, container }: ContainerPlace): void {
    const image = imageOf(container);
    const isThere =
      container.imagePullPolicy === "Never"
        ? findPullError(image) === undefined
        : this.#images.get(node)?.has(image) === true;
    // A pull that shall fail is made although another pod has loaded the image.
    const mustPull = findSimulated(pod, container.name, "pull-failure") !== undefined;
    const found = isThere && !mustPull ? imageIdentity(image).image : undefined;
    const report = { type: "inspected", image: found } as const;
    this.#listener.container({ uid: pod.metadata.uid, container: container.name }, report);
  }

  pull(place: ContainerPlace): void {
    const made = this.#make(place, "pulling", 0);
    const { pullMs } = made.behaviour;
    this.#due(made, { at: this.#loop.now() + pullMs, kind: "progress" }, () => this.#pulled(made, pullMs));
  }

  start({ node, pod, container, attempt }: ContainerStart): void {
    const made = this.#make({ node, pod, container }, "starting", attempt);
    const startAt = this.#loop.now() + made.behaviour.startMs;
    this.#due(made, { at: startAt, kind: "progress" }, () => this.#started(made));
  }

  stop(key: ContainerKey, { graceMs }: StopOrder): void {
    const found = this.#find(key);
    if (found === undefined) return;
    if (found.state !== "running") {
      this.#leave(found);
      return;
    }
    const { terminationMs, terminationCode } = found.behaviour;
    const at = this.#loop.now() + Math.min(terminationMs, graceMs);
    if (found.ending !== undefined && found.ending.at <= at) return;
    found.ending = { at, exitCode: terminationMs <= graceMs ? terminationCode : KILLED_CODE };
    this.#awaitExit(found);
  }

  probeOf({ pod, container }: ContainerPlace, type: ProbeType): Probe | undefined {
    if (type === "startup") return container.startupProbe;
    if (type === "liveness") return container.livenessProbe;
    return container.readinessProbe ?? (hasAnnotatedReadiness(pod, container) ? ANNOTATION_PROBE : undefined);
  }

  probe({ pod, container }: ContainerPlace, type: ProbeType): void {
    const found = this.#find({ uid: pod.metadata.uid, container: container.name });
    if (found === undefined || found.probes.has(type)) return;
    const probing: Probing = { sinceMs: this.#loop.now(), last: undefined, due: undefined };
    found.probes.set(type, probing);
    this.#awaitResult(found, type);
  }

  update(node: string, pod: Pod): void {
    for (const container of this.#pods.get(pod.metadata.uid)?.values() ?? []) {
      const { pod: before, container: spec } = container.place;
      const isEdited = before.metadata.annotations !== pod.metadata.annotations || before.spec !== pod.spec;
      container.place = { node, pod, container: (isEdited ? specOf(pod, spec.name) : undefined) ?? spec };
      if (!isEdited) continue;
      container.behaviour = behaviourOf(pod, container.place.container, container.isThere);
      if (container.state !== "running") continue;
      this.#awaitExit(container);
      for (const type of container.probes.keys()) this.#awaitResult(container, type);
    }
  }

  exec(key: ContainerKey, request: ExecRequest): StreamSession {
    return this.#streams.exec(this.#findRunning(key), key, request);
  }

  attach(key: ContainerKey, request: AttachRequest): StreamSession {
    return this.#streams.attach(this.#findRunning(key), key, request);
  }

  portForward(uid: string, port: number): Promise<Duplex> {
    const [first] = this.#pods.get(uid)?.values() ?? [];
    return this.#streams.portForward(first?.place.pod, port);
  }

  logs(place: ContainerPlace, query: LogQuery): Promise<Readable | undefined> {
    const { pod, container } = place;
    const running = this.#findRunning({ uid: pod.metadata.uid, container: container.name });
    return Promise.resolve(this.#streams.logs(place, query, running));
  }

  usage(uid: string): Promise<PodUsage | undefined> {
    const known = this.#pods.get(uid);
    if (known === undefined) return Promise.resolve(undefined);
    const at = this.#loop.now();
    const containers = [...known.values()].flatMap((each) =>
      each.state === "running" ? [usageOf(each, at)] : [],
    );
    return Promise.resolve({ at, containers });
  }

  findAnnotationProblems(pod: Pod): readonly string[] {
    return behaviourProblems(pod);
  }

  #addressesOf(node: string): PodAddresses {
    const known = this.#addresses.get(node) ?? new PodAddresses();
    this.#addresses.set(node, known);
    return known;
  }

  #adopted(node: string, pod: Pod, status: ContainerStatus): readonly FoundContainer[] {
    const { name, state, containerID: id = "", imageID: imageId, restartCount: attempt } = status;
    const container = specOf(pod, name);
    if (state.running === undefined || container === undefined) return [];
    const startedAt = timeOf(state.running.startedAt) ?? this.#loop.now();
    const made = this.#make({ node, pod, container }, "running", attempt);
    made.id = id;
    made.startedAt = startedAt;
    this.#remember(node, imageOf(container));
    this.#awaitExit(made);
    return [{ name, id, imageId, attempt, startedAt, exit: undefined }];
  }

  #make(place: ContainerPlace, state: SimulatedContainer["state"], attempt: number): SimulatedContainer {
    const { pod, container } = place;
    const { uid } = pod.metadata;
    const known = this.#pods.get(uid) ?? new Map<string, SimulatedContainer>();
    this.#pods.set(uid, known);
    const before = known.get(container.name);
    if (before !== undefined) this.#dismiss(before);
    const now = this.#loop.now();
    const isThere: FileView = (file) => this.#files.isThere(place, file, now);
    const behaviour = behaviourOf(pod, container, isThere);
    const made: SimulatedContainer = {
      ...{ place, behaviour, isThere, state, attempt },
      ...{ id: "", startedAt: 0, ending: undefined, due: undefined },
      probes: new Map(),
    };
    known.set(container.name, made);
    return made;
  }

  #dismiss(container: SimulatedContainer): void {
    this.#streams.ended(keyOf(container), KILLED_CODE);
    this.#timers.cancel(container.due);
    for (const { due } of container.probes.values()) this.#timers.cancel(due);
    container.probes.clear();
    if (container.state === "running") {
      this.#files.end(container.place, container.behaviour.files, this.#loop.now());
    }
  }

  #due(container: SimulatedContainer, when: { at: number; kind: TimerKind }, act: () => void): void {
    this.#timers.cancel(container.due);
    container.due = this.#timers.add(when.at, when.kind, act);
  }

  #tell({ place }: SimulatedContainer, report: ContainerReport): void {
    this.#listener.container(keyOf({ place }), report);
  }

  #pulled(container: SimulatedContainer, tookMs: number): void {
    const { place, behaviour } = container;
    const image = imageOf(place.container);
    const failure = behaviour.pullFailure ?? findPullError(image);
    if (failure !== undefined) return this.#tell(container, { type: "pull-failed", message: failure });
    this.#remember(place.node, image);
    return this.#tell(container, { type: "pulled", ...imageIdentity(image), tookMs });
  }

  #remember(node: string, image: string): void {
    const images = this.#images.get(node) ?? new Set<string>();
    this.#images.set(node, images.add(image));
    if (images.size <= IMAGES_MAX) return;
    for (const oldest of images) {
      images.delete(oldest);
      break;
    }
  }

  #started(container: SimulatedContainer): void {
    container.state = "running";
    container.id = `${this.name}://${Buffer.from(this.#ids.bytes(32)).toString("hex")}`;
    container.startedAt = this.#loop.now();
    const { id: imageId } = imageIdentity(imageOf(container.place.container)).image;
    this.#files.begin(container.place, container.behaviour.files, container.startedAt);
    this.#tell(container, { type: "started", id: container.id, imageId, at: container.startedAt });
    this.#awaitExit(container);
  }

  #awaitExit(container: SimulatedContainer): void {
    const { behaviour, startedAt, attempt, ending } = container;
    this.#timers.cancel(container.due);
    const own = attempt < behaviour.exitTimes ? behaviour.exit : undefined;
    const ownAt = own === undefined ? Infinity : startedAt + own.afterMs;
    if (ending !== undefined && ending.at <= ownAt) {
      this.#due(container, { at: ending.at, kind: "progress" }, () =>
        this.#exited(container, ending.exitCode),
      );
    } else if (own !== undefined) {
      const kind = this.#kindOf(ownAt, !comesAgain(container.place, own.exitCode));
      this.#due(container, { at: ownAt, kind }, () => this.#exited(container, own.exitCode));
    }
  }

  #leave(container: SimulatedContainer): void {
    const { pod, container: spec } = container.place;
    this.#dismiss(container);
    this.#pods.get(pod.metadata.uid)?.delete(spec.name);
  }

  #exited(container: SimulatedContainer, exitCode: number): void {
    this.#streams.ended(keyOf(container), exitCode);
    this.#leave(container);
    this.#tell(container, { type: "exited", at: this.#loop.now(), exitCode });
  }

  /** Reports a changed result at the next tick, and schedules the next change. */
  #awaitResult(container: SimulatedContainer, type: ProbeType): void {
    const probing = container.probes.get(type);
    if (probing === undefined) return;
    this.#timers.cancel(probing.due);
    const { periodSeconds = 10, initialDelaySeconds = 0 } =
      this.probeOf(container.place, type) ?? ANNOTATION_PROBE;
    const firstAt = Math.max(probing.sinceMs, container.startedAt + initialDelaySeconds * 1000);
    const ticks = { firstAt, periodMs: Math.max(1, periodSeconds) * 1000 };
    const span = spanOf(container, type);
    const at =
      probing.last === undefined
        ? firstAt
        : findNextChange(span, ticks, { after: this.#loop.now(), isSuccess: probing.last === "success" });
    if (at === undefined) return;
    probing.due = this.#timers.add(at, this.#kindOf(at, type !== "liveness"), () =>
      this.#probed(container, type, at),
    );
  }

  #probed(container: SimulatedContainer, probe: ProbeType, at: number): void {
    const probing = container.probes.get(probe);
    if (probing === undefined) return;
    const result = isWithin(spanOf(container, probe), at) ? "success" : "failure";
    const isChanged = result !== probing.last;
    probing.last = result;
    this.#awaitResult(container, probe);
    if (isChanged) this.#tell(container, { type: "probed", probe, result, at, message: "simulated result" });
  }

  #kindOf(at: number, isProgress: boolean): TimerKind {
    return isProgress && at - this.#loop.now() <= SOON_MS ? "progress" : "periodic";
  }

  #findRunning(key: ContainerKey): RunningContainer | undefined {
    const found = this.#find(key);
    return found?.state === "running" ? { ...found.place, startedAt: found.startedAt } : undefined;
  }

  #find({ uid, container }: ContainerKey): SimulatedContainer | undefined {
    return this.#pods.get(uid)?.get(container);
  }
}

function keyOf({ place }: Pick<SimulatedContainer, "place">): ContainerKey {
  return { uid: place.pod.metadata.uid, container: place.container.name };
}

function usageOf({ place, startedAt }: SimulatedContainer, at: number): ContainerUsage {
  const { name } = place.container;
  const usage = simulatedUsage(place.pod, name);
  return { ...usage, name, startedAt, cpuSeconds: ((at - startedAt) / 1000) * (usage.cpuMillis / 1000) };
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

function imageOf({ image = "" }: Container): string {
  return image;
}

function specOf({ spec }: Pod, name: string): Container | undefined {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  return [...containers, ...initContainers, ...ephemeralContainers].find((each) => each.name === name);
}

/** Whether the container restarts and ends again endlessly. */
function comesAgain({ pod, container }: ContainerPlace, exitCode: number): boolean {
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) ?? false;
  if (isInit && isSidecar(container)) return true;
  const { restartPolicy = "Always" } = container.restartPolicy === undefined ? pod.spec : container;
  if (exitCode === 0) return restartPolicy === "Always" && !isInit;
  return restartPolicy !== "Never";
}

/** The span in absolute time. */
function spanOf({ behaviour, startedAt }: SimulatedContainer, type: ProbeType): TimeSpan {
  const { fromMs, untilMs } = behaviour[type];
  return { fromMs: startedAt + fromMs, untilMs: startedAt + untilMs };
}
