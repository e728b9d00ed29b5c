/**
 * A runtime whose containers are records and a few timers instead of processes. `behaviourOf` determines
 * their behaviour, so that equal pods behave equally at any place and time.
 */
import type { Container, Pod, Probe } from "../../api/generated/types/core-v1.ts";
import type { Loop, Random, TimerKind } from "../../base/loop/loop.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";
import { simulatedUsage } from "../../resources/pod/simulated-annotations.ts";
import type {
  AdoptedRun,
  ContainerPlace,
  ContainerRuntime,
  ContainerUsage,
  ProbeType,
  ReportListener,
} from "../container-runtime.ts";
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
import type { TimeSpan } from "./time-span.ts";
import { VolumeFiles } from "./volume-files.ts";

/** A virtual loop does not wait for exits beyond this time before it settles. */
const SOON_MS = 60_000;
/** Upper bound of the images on a node; the first one pulled is dropped first. */
const IMAGES_MAX = 100;
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

export interface SimulatedRuntimeParts {
  readonly loop: Loop;
  readonly timers: TimerQueue;
  readonly report: ReportListener;
}

export class SimulatedRuntime implements ContainerRuntime {
  readonly handler = "simulated";
  readonly #loop: Loop;
  readonly #timers: TimerQueue;
  readonly #report: ReportListener;
  readonly #ids: Random;
  readonly #images = new Map<string, Set<string>>();
  readonly #pods = new Map<string, Map<string, SimulatedContainer>>();
  readonly #files = new VolumeFiles();

  constructor({ loop, timers, report }: SimulatedRuntimeParts) {
    this.#loop = loop;
    this.#timers = timers;
    this.#report = report;
    this.#ids = loop.random("container-ids");
  }

  /** The pull policy Never implies that the image is already loaded. */
  hasImage({ node, container }: ContainerPlace): boolean {
    const image = imageOf(container);
    if (container.imagePullPolicy === "Never") return findPullError(image) === undefined;
    return this.#images.get(node)?.has(image) ?? false;
  }

  pull(place: ContainerPlace): void {
    const made = this.#make(place, "pulling", 0);
    const { pullMs } = made.behaviour;
    this.#due(made, { at: this.#loop.now() + pullMs, kind: "progress" }, () => this.#pulled(made, pullMs));
  }

  start(place: ContainerPlace, attempt: number): void {
    const made = this.#make(place, "starting", attempt);
    const startAt = this.#loop.now() + made.behaviour.startMs;
    this.#due(made, { at: startAt, kind: "progress" }, () => this.#started(made));
  }

  adopt(place: ContainerPlace, { id, startedAt, attempt }: AdoptedRun): void {
    const made = this.#make(place, "running", attempt);
    made.id = id;
    made.startedAt = startedAt;
    this.#remember(place.node, imageOf(place.container));
    this.#awaitExit(made);
  }

  stop(place: ContainerPlace, { delayMs, graceMs }: { delayMs: number; graceMs: number }): void {
    const found = this.#find(place.pod, place.container);
    if (found === undefined) return;
    if (found.state !== "running") {
      this.#leave(found);
      return;
    }
    const { terminationMs, terminationCode } = found.behaviour;
    const now = this.#loop.now();
    const endsItself = delayMs + terminationMs <= graceMs;
    const at = now + Math.min(delayMs + terminationMs, graceMs);
    if (found.ending !== undefined && found.ending.at <= at) return;
    found.ending = { at, exitCode: endsItself ? terminationCode : KILLED_CODE };
    this.#awaitExit(found);
  }

  probeOf({ pod, container }: ContainerPlace, type: ProbeType): Probe | undefined {
    if (type === "startup") return container.startupProbe;
    if (type === "liveness") return container.livenessProbe;
    return container.readinessProbe ?? (hasAnnotatedReadiness(pod, container) ? ANNOTATION_PROBE : undefined);
  }

  probe({ pod, container }: ContainerPlace, type: ProbeType): void {
    const found = this.#find(pod, container);
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

  forget(uid: string): void {
    for (const container of this.#pods.get(uid)?.values() ?? []) this.#dismiss(container);
    this.#pods.delete(uid);
    this.#files.forget(uid);
  }

  usage({ pod, container }: ContainerPlace): ContainerUsage | undefined {
    const isRunning = this.#find(pod, container)?.state === "running";
    return isRunning ? simulatedUsage(pod, container.name) : undefined;
  }

  problems(pod: Pod): readonly string[] {
    return behaviourProblems(pod);
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

  #tell({ place }: SimulatedContainer, report: Parameters<ReportListener>[2]): void {
    this.#report(place.pod.metadata.uid, place.container.name, report);
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
    container.id = `${this.handler}://${Buffer.from(this.#ids.bytes(32)).toString("hex")}`;
    container.startedAt = this.#loop.now();
    const { imageId } = imageIdentity(imageOf(container.place.container));
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

  #find(pod: Pod, { name }: Container): SimulatedContainer | undefined {
    return this.#pods.get(pod.metadata.uid)?.get(name);
  }
}

function imageOf({ image = "" }: Container): string {
  return image;
}

function specOf({ spec }: Pod, name: string): Container | undefined {
  return [...spec.containers, ...(spec.initContainers ?? [])].find((each) => each.name === name);
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
