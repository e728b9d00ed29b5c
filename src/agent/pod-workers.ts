/**
 * Runs all pods on the nodes of this process. Changes and reports only mark a pod. Marked pods get their
 * passes in slices, one after the other. A bounded window sends the writes, at most one for each pod at a
 * time. The cost of a pod is thus the same among 10 or 100,000 pods.
 */
import { isApiError } from "../api/errors/api-error.ts";
import { Node, Pod } from "../api/generated/types/core-v1.ts";
import { RuntimeClass } from "../api/generated/types/node-v1.ts";
import { inSlices } from "../base/loop/in-slices.ts";
import { runInTurns } from "../base/loop/run-in-turns.ts";
import type { Client } from "../client/client.ts";
import { isTerminal } from "../resources/pod/pod-state.ts";
import type { ObjectChange } from "../runtime/cache/object-change.ts";
import { WriteLimiter } from "../runtime/controller/write-limiter.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { withCause } from "../runtime/manager/stated-cause.ts";
import { orderOfVersions } from "../runtime/refs/resource-version.ts";
import { ConfigCache } from "./config-cache.ts";
import { HandlerChoice } from "./handler-choice.ts";
import { findRejection } from "./node/admit-pod.ts";
import type { AgentNode } from "./node/agent-node.ts";
import { PodResizing } from "./pod-resizing.ts";
import type { PodPlace } from "./pod/pod-place.ts";
import { PodWorker, type PassOutcome, type PodWorkerParts } from "./pod/pod-worker.ts";
import type { ProbeTotals } from "./probes/probe-totals.ts";
import { ProgramSupport } from "./program-support.ts";
import type { Programs } from "./programs/programs.ts";
import type { RuntimeHandler, RuntimeHandlerFactory, RuntimeListener } from "./runtime-handler.ts";
import { SandboxSetup, sandboxSpec } from "./sandbox-setup.ts";
import type { TimerQueue } from "./timer-queue.ts";

/** Name of the cache index that maps nodes to pods. */
export const PODS_BY_NODE = "agent/node";
/** Upper bound of the passes in one step of the loop: keeps a step below two milliseconds. */
const SLICE = 32;
/**
 * Upper bound of the pods without a run that are written in one idle step. Such a pod is written in its state
 * at that time. Under load most pods are first written when they run, as with the kubelet.
 */
const STEPS_MAX = 4;
/** Delay before a retry of a failed write. */
const RETRY_MS = 10_000;

export interface PodWorkersParts {
  readonly routine: RoutineParts;
  /** Client with the identity of a node. */
  readonly clientOf: (node: string) => Client;
  readonly timers: TimerQueue;
  /** The first one runs pods without a RuntimeClass. */
  readonly handlers: readonly [RuntimeHandlerFactory, ...RuntimeHandlerFactory[]];
  /** Runs the pods that `has` knows, and no others. */
  readonly statics?: { readonly handler: RuntimeHandlerFactory; readonly has: (pod: Pod) => boolean };
  /** Prepares programs; undefined if no handler runs any. */
  readonly programs?: Programs | undefined;
  /** Aborted at shutdown: later write errors are expected and not logged. */
  readonly signal: AbortSignal;
  readonly findNode: (name: string) => AgentNode | undefined;
  /** Whether a controller publishes the server's certificate in each namespace. */
  readonly hasRootCa: boolean;
}

export class PodWorkers {
  readonly #parts: PodWorkersParts;
  readonly #handlers: readonly RuntimeHandler[];
  readonly #choice: HandlerChoice;
  readonly #support: ProgramSupport;
  readonly #workerParts: PodWorkerParts;
  readonly #configs: ConfigCache<PodWorker>;
  readonly #workers = new Map<string, PodWorker>();
  readonly #marked = new Set<PodWorker>();
  /** Workers with changes that arrived during a write. */
  readonly #again = new Set<PodWorker>();
  /** Deleted from the API; dropped once the cache confirms. */
  readonly #removed = new Set<PodWorker>();
  /** Workers with a scheduled retry after a failed or ineffective write. */
  readonly #later = new Set<PodWorker>();
  readonly #limiter = new WriteLimiter<PodWorker>();
  readonly #resizing: PodResizing;
  readonly #sandboxes: SandboxSetup;
  /** Workers before their first run whose status is not written yet. */
  readonly #steps = new Set<PodWorker>();
  #areStepsPosted = false;
  #isScheduled = false;

  constructor(parts: PodWorkersParts) {
    const { routine, timers } = parts;
    const now = (): number => routine.loop.now();
    this.#parts = parts;
    this.#configs = new ConfigCache({
      ...parts,
      now,
      wake: (worker) => {
        if (this.#isKnown(worker)) this.#mark(worker);
      },
    });
    const [first, ...others] = parts.handlers;
    const listener = this.#listener();
    const handlers = [first(listener), ...others.map((create) => create(listener))] as const;
    const statics = parts.statics && { ...parts.statics, handler: parts.statics.handler(listener) };
    this.#handlers = statics === undefined ? handlers : [...handlers, statics.handler];
    this.#choice = new HandlerChoice({
      ...{ handlers, statics },
      findRuntimeClass: (name) => routine.cache(RuntimeClass).find({ name }),
    });
    this.#support = new ProgramSupport({
      ...{ routine, timers, listener, handlers: this.#handlers, programs: parts.programs },
      findWorker: (uid) => this.#workers.get(uid),
      isOwn: ({ spec }) => parts.findNode(spec.nodeName ?? "") !== undefined,
    });
    const mark = (worker: PodWorker): void => this.#mark(worker);
    this.#resizing = new PodResizing({ routine, mark });
    this.#sandboxes = new SandboxSetup({
      ...parts,
      handlers: this.#choice,
      isKnown: (worker) => this.#isKnown(worker),
      mark,
    });
    this.#workerParts = {
      now,
      timers,
      lifecycle: this.#support.lifecycle,
      proberOf: (handler) => this.#support.proberOf(handler),
      wake: (worker) => this.#mark(worker),
      event: routine.event,
      findConfig: (requester, reference, since) =>
        this.#configs.findConfig(reference, { since, requester, node: requester.place.node }),
    };
  }

  /** The handler that runs the pod, or ran it; undefined for a pod that no handler can run. */
  findHandler(pod: Pod): RuntimeHandler | undefined {
    const handler = this.#workers.get(pod.metadata.uid)?.place.handler;
    if (handler !== undefined) return handler;
    const choice = this.#choice.find(pod);
    return choice.type === "handler" ? choice.handler : undefined;
  }

  /** Results of the probes of a pod since the agent knows it. */
  probeTotals({ metadata }: Pod): readonly ProbeTotals[] {
    return this.#support.probeTotals(metadata.uid);
  }

  /** Runs the handlers until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, programs } = this.#parts;
    await Promise.all(
      [...this.#handlers, ...(programs === undefined ? [] : [programs])].map((each) => each.run(signal)),
    );
  }

  /**
   * Looks for sandboxes that run already, and removes those whose pod is gone or has ended. Before `follow` and the
   * start of nodes: the runtime knows better than the API which containers run.
   */
  async recover(): Promise<void> {
    const uids = await this.#choice.recover();
    const { programs, routine } = this.#parts;
    if (uids.length === 0 && programs === undefined) return;
    const [known, alive] = [new Set(uids), new Set<string>()];
    const note = (pod: Pod): void => {
      known.add(pod.metadata.uid);
      if (hasWork(pod)) alive.add(pod.metadata.uid);
    };
    await runInTurns(inSlices(routine.cache(Pod).walk(), note), routine.loop, "loop");
    for (const uid of uids) if (!alive.has(uid)) this.#choice.remove(uid);
    await programs?.sweep(known);
  }

  /** Subscribes to pods. Returns a function that ends the subscription. */
  follow(): () => void {
    return this.#parts.routine.subscribe(Pod, (change) => this.#changed(change));
  }

  /** The node is up: starts workers for its pods in the cache. */
  startNode({ name }: AgentNode): void {
    for (const pod of this.#parts.routine.cache(Pod).indexed(PODS_BY_NODE, name)) this.#see(pod);
  }

  /** The node is down: drops its workers. Its pods get no more writes. */
  stopNode({ name }: AgentNode): void {
    for (const pod of this.#parts.routine.cache(Pod).indexed(PODS_BY_NODE, name)) {
      const worker = this.#workers.get(pod.metadata.uid);
      if (worker?.place.node === name) this.#drop(worker);
    }
  }

  /** Resolves when no write and no read is in flight. The signal must be aborted before. */
  async end(): Promise<void> {
    await Promise.all([this.#limiter.quiet(), this.#sandboxes.quiet(), this.#configs.end()]);
  }

  #listener(): RuntimeListener {
    return {
      sandbox: (uid, report) => {
        const worker = this.#workers.get(uid);
        const node = worker && this.#parts.findNode(worker.place.node);
        if (worker !== undefined && node !== undefined) this.#sandboxes.settle(worker, node, report);
        else if (report.type === "sandbox-removed") this.#support.tearDown(uid);
      },
      container: (key, report) => {
        if (report.type === "exited") return this.#support.exited(key, report);
        if (report.type === "started") this.#support.started(key);
        return this.#workers.get(key.uid)?.report(key.container, report);
      },
    };
  }

  #changed({ before, after }: ObjectChange<Pod>): void {
    const gone = before !== undefined && before.metadata.uid !== after?.metadata.uid ? before : undefined;
    const worker = gone === undefined ? undefined : this.#workers.get(gone.metadata.uid);
    if (worker !== undefined) this.#drop(worker);
    if (gone !== undefined) this.#support.removeLogs(gone);
    if (after !== undefined) this.#see(after);
  }

  #see(pod: Pod): void {
    const node = this.#parts.findNode(pod.spec.nodeName ?? "");
    if (node === undefined || (node.state !== "up" && node.state !== "gone")) return;
    const worker = this.#workers.get(pod.metadata.uid);
    if (worker === undefined) {
      if (hasWork(pod)) this.#accept(pod, node);
      else if (isHalfDeleted(pod)) this.#finishLater(pod, node);
    } else if (isNewer(pod, worker.pod)) this.#take(worker, pod, node);
    else if (worker.hasEnded) this.#mark(worker);
  }

  /**
   * The server normally removes the pod at once. If that failed, only the pod's node retries the deletion.
   */
  #finishLater({ metadata }: Pod, node: AgentNode): void {
    const { timers, routine, signal } = this.#parts;
    timers.add(routine.loop.now() + RETRY_MS, "periodic", () => {
      const pod = routine.cache(Pod).find(metadata);
      const isLeft = pod?.metadata.uid === metadata.uid && isHalfDeleted(pod);
      if (isLeft && node.state === "up" && !signal.aborted && !this.#workers.has(metadata.uid))
        this.#accept(pod, node);
    });
  }

  #take(worker: PodWorker, pod: Pod, node: AgentNode): void {
    const isEdited = pod.metadata.generation !== worker.pod.metadata.generation;
    worker.take(pod);
    if (worker.place.handler?.runsPrograms === true) this.#parts.programs?.update(pod);
    // A removed pod that still exists waits for the finalizers of other components.
    if (this.#removed.has(worker) && pod.metadata.deletionGracePeriodSeconds === 0) {
      this.#drop(worker);
      return;
    }
    if (isEdited && !worker.hasEnded && worker.place.rejection === undefined)
      this.#resizing.resize(worker, node);
    this.#mark(worker);
  }

  #accept(pod: Pod, node: AgentNode): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const isNew = pod.status.startTime === undefined && deletionTimestamp === undefined;
    const place = this.#findPlace(pod, node, isNew);
    const worker = new PodWorker(pod, place, this.#workerParts);
    if (place.rejection !== undefined) this.#tell(pod, node, place.rejection);
    // A terminal pod uses no resources, also one that was terminal before this agent started.
    else if (!isTerminal(pod)) this.#resizing.resize(worker, node);
    for (const message of isNew ? (place.handler?.findAnnotationProblems(pod) ?? []) : []) {
      this.#tell(pod, node, { reason: "InvalidAnnotation", message });
    }
    this.#workers.set(uid, worker);
    if (place.addresses === undefined) this.#sandboxes.begin(worker, node);
    this.#mark(worker);
  }

  #findPlace(pod: Pod, node: AgentNode, isNew: boolean): PodPlace {
    const object = this.#parts.routine.cache(Node).find({ name: node.name });
    const rejection = isNew && object !== undefined ? findRejection(pod, object, node.allocated) : undefined;
    const choice = this.#choice.find(pod);
    const handler = choice.type === "handler" ? choice.handler : undefined;
    const place = { node: node.name, hostAddresses: node.setup.addresses, rejection, handler };
    // The addresses of a terminal pod may belong to another pod.
    if (rejection !== undefined || isTerminal(pod)) return { ...place, addresses: [], found: undefined };
    // A crash may have come before the first status.
    const isFresh = isNew && !this.#choice.hasRun(pod.metadata.uid);
    const found = isFresh ? undefined : handler?.adopt(sandboxSpec(pod, node, object));
    // A pod deleted before it has a sandbox never starts.
    const isOver = pod.metadata.deletionTimestamp !== undefined;
    return { ...place, addresses: found?.addresses ?? (isOver ? [] : undefined), found };
  }

  #tell(pod: Pod, { name }: AgentNode, what: { readonly reason: string; readonly message: string }): void {
    this.#parts.routine.event(pod, { type: "Warning", ...what, host: name });
  }

  #drop(worker: PodWorker): void {
    const { uid } = worker.pod.metadata;
    this.#workers.delete(uid);
    this.#support.forget(uid);
    worker.dismiss();
    this.#choice.forget(uid);
    this.#marked.delete(worker);
    this.#steps.delete(worker);
    this.#again.delete(worker);
    this.#removed.delete(worker);
    this.#release(worker);
  }

  #release(worker: PodWorker): void {
    this.#resizing.release(worker, this.#parts.findNode(worker.place.node));
  }

  #mark(worker: PodWorker): void {
    this.#marked.add(worker);
    if (this.#isScheduled || this.#parts.signal.aborted) return;
    this.#isScheduled = true;
    this.#parts.routine.loop.post("loop", () => this.#work());
  }

  #work(): void {
    this.#isScheduled = false;
    if (this.#parts.signal.aborted) return;
    let left = SLICE;
    for (const worker of this.#marked) {
      if (left-- === 0) break;
      this.#marked.delete(worker);
      this.#pass(worker);
    }
    if (this.#marked.size === 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#parts.routine.loop.post("loop", () => this.#work());
  }

  #pass(worker: PodWorker): void {
    const outcome = worker.pass();
    // Releases before the write: once it is visible, the scheduler may bind another pod to the freed
    // resources.
    if (worker.hasEnded) this.#release(worker);
    this.#steps.delete(worker);
    if (outcome.type === "over") this.#leave(worker);
    else if (outcome.type === "step") this.#stepLater(worker);
    else if (outcome.type === "write" || (outcome.type === "remove" && !this.#removed.has(worker))) {
      this.#submit(worker, outcome);
    }
  }

  /** During an earlier write of the pod the outcome is dropped, and the pod gets another pass afterwards. */
  #submit(worker: PodWorker, outcome: PassOutcome): void {
    if (!this.#limiter.send(worker, () => this.#write(worker, outcome))) this.#again.add(worker);
  }

  #stepLater(worker: PodWorker): void {
    this.#steps.add(worker);
    if (this.#areStepsPosted) return;
    this.#areStepsPosted = true;
    this.#parts.routine.loop.post("spare", () => this.#writeSteps());
  }

  #writeSteps(): void {
    this.#areStepsPosted = false;
    if (this.#parts.signal.aborted) return;
    let left = STEPS_MAX;
    for (const worker of this.#steps) {
      if (left-- === 0) return this.#stepLater(worker);
      this.#steps.delete(worker);
      const patch = worker.findStep();
      if (patch !== undefined) this.#submit(worker, { type: "write", patch });
    }
  }

  /**
   * Keeps the worker until the cache has the final status: an older version would look like a running pod.
   */
  #leave(worker: PodWorker): void {
    const known = this.#parts.routine.cache(Pod).find(worker.pod.metadata);
    if (known === undefined || !isNewer(worker.pod, known)) this.#drop(worker);
  }

  async #write(worker: PodWorker, outcome: PassOutcome): Promise<void> {
    if (!this.#isKnown(worker)) return;
    try {
      await this.#send(worker, outcome);
    } catch (error) {
      this.#failed(worker, error);
    }
  }

  async #send(worker: PodWorker, outcome: PassOutcome): Promise<void> {
    const { pod } = worker;
    const client = this.#parts.clientOf(pod.spec.nodeName ?? "");
    const pods = withCause(client, { loop: "kubelet", type: Pod, object: pod })(Pod);
    if (outcome.type === "write") {
      const patch = { type: "strategic", changes: outcome.patch } as const;
      const written = await pods.patch(pod, patch, { subresource: "status" });
      if (!this.#isKnown(worker)) return;
      if (isNewer(written, worker.pod)) worker.take(written);
      // A write without effect is not repeated at once, because the next pass would repeat it endlessly.
      const isNoOp = written.metadata.resourceVersion === pod.metadata.resourceVersion;
      if (this.#again.delete(worker) || (worker.hasEnded && !isNoOp)) this.#mark(worker);
      else if (worker.hasEnded) this.#markLater(worker);
    } else if (outcome.type === "remove") {
      await pods.delete(pod, { gracePeriodSeconds: 0 });
      if (this.#isKnown(worker)) this.#removed.add(worker);
    }
  }

  #isKnown(worker: PodWorker): boolean {
    return !this.#parts.signal.aborted && this.#workers.get(worker.pod.metadata.uid) === worker;
  }

  /** NotFound and Conflict need no retry: a watch event about the pod follows. */
  #failed(worker: PodWorker, error: unknown): void {
    if (!this.#isKnown(worker)) return;
    if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    const { namespace, name } = worker.pod.metadata;
    this.#parts.routine.log.warn("cannot write pod; retrying in 10 s", { namespace, name, error });
    this.#markLater(worker);
  }

  /** Schedules at most one retry for each worker: otherwise each failed write would add one. */
  #markLater(worker: PodWorker): void {
    if (this.#later.has(worker)) return;
    this.#later.add(worker);
    const { timers, routine } = this.#parts;
    timers.add(routine.loop.now() + RETRY_MS, "progress", () => {
      this.#later.delete(worker);
      if (this.#isKnown(worker)) this.#mark(worker);
    });
  }
}

/** Terminal pods need no worker, unless their deletion waits for the agent. */
function hasWork(pod: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp !== undefined) return deletionGracePeriodSeconds > 0;
  return !isTerminal(pod);
}

/** True for a deleted pod without a grace period or finalizers. */
function isHalfDeleted({ metadata }: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}

function isNewer(pod: Pod, than: Pod): boolean {
  return orderOfVersions(pod.metadata.resourceVersion, than.metadata.resourceVersion) === "newer";
}
