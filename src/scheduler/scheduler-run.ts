/**
 * Main loop of a running scheduler.
 *
 * `#pump` takes one pod after the other from the queue and decides about each synchronously. Writes run concurrently with later decisions,
 * within a bound. All state comes from the caches, so the scheduler can stop at any moment and restart.
 */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { ClusterEventSource, type ClusterEventTarget } from "./cluster-event-source.ts";
import type { ClusterEvent } from "./framework/cluster-event.ts";
import { diagnosisText, type Diagnosis, NO_NODES_MESSAGE, rejectors } from "./framework/diagnosis.ts";
import { Nominations } from "./framework/nominations.ts";
import type { Profile } from "./framework/profile.ts";
import type { SchedulingCycle, PluginContext } from "./framework/scheduler-plugin.ts";
import { InFlightWrites } from "./in-flight-writes.ts";
import { PodBinder } from "./pod-binder.ts";
import type { NodeChoice } from "./pod-binder.ts";
import { PodReporter } from "./pod-reporter.ts";
import { Preemptor } from "./preemption/preemptor.ts";
import type { QueuedPod } from "./queue/queued-pod.ts";
import { QueueingHintCache } from "./queue/queueing-hint-cache.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import { type SchedulerMetrics, schedulerMetrics } from "./scheduler-metrics.ts";
import { ClusterSnapshot } from "./snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "./snapshot/node-info.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";
import { PodShapes } from "./snapshot/pod-shape.ts";
import { type UnschedulableResult, UnschedulableCache } from "./unschedulable-cache.ts";

/** Enough for the server to batch commits, few enough not to flood a slow server. */
const WRITES_MAX = 100;

/** Upper bound of decisions per step; more would block the event loop. */
const STEP_DECISIONS_MAX = 32;
const STEP_MS_MAX = 4;

const UPKEEP_EVERY_MS = 30_000;

interface Decision {
  readonly entry: QueuedPod;
  readonly profile: Profile;
  readonly cycle: SchedulingCycle;
}

export type ProfileMaker = (context: PluginContext, nominations: Nominations) => readonly Profile[];

export class SchedulerRun {
  readonly #parts: RoutineParts;
  readonly #signal: AbortSignal;
  readonly #metrics: SchedulerMetrics;
  readonly #snapshot = new ClusterSnapshot();
  readonly #nominations = new Nominations((pod, nodeName) => this.#nominationFreed(pod, nodeName));
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #queue: SchedulingQueue;
  readonly #writes: InFlightWrites;
  readonly #binder: PodBinder;
  readonly #preemptor: Preemptor;
  readonly #reporter: PodReporter;
  readonly #unschedulableCache = new UnschedulableCache(this.#snapshot);
  readonly #volumeListeners = new Set<() => void>();
  /** False until the snapshot has all existing nodes and pods: a decision before would overlook some. */
  #isFed = false;
  #isPumpPosted = false;

  constructor(parts: RoutineParts, signal: AbortSignal, makeProfiles: ProfileMaker) {
    const { loop } = parts;
    const snapshot = this.#snapshot;
    const nominations = this.#nominations;
    this.#parts = parts;
    this.#signal = signal;
    const writes = new InFlightWrites(WRITES_MAX, () => this.#schedulePump());
    const profiles = makeProfiles(this.#pluginContext(writes), nominations);
    const metrics = schedulerMetrics(parts.metrics);
    const queue = new SchedulingQueue({
      loop,
      hints: new QueueingHintCache(profiles),
      onActive: () => this.#schedulePump(),
    });
    const notice = queue.notice.bind(queue);
    const reactivate = queue.reactivate.bind(queue);
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#metrics = metrics;
    this.#queue = queue;
    this.#writes = writes;
    this.#reporter = new PodReporter(parts, writes, signal);
    this.#binder = new PodBinder({ parts, snapshot, writes, signal, notice });
    this.#preemptor = new Preemptor({ parts, snapshot, nominations, writes, metrics, reactivate });
  }

  async run(): Promise<void> {
    const events = new ClusterEventSource(this.#eventTarget(), this.#parts);
    this.#queue.start();
    const stopUpkeep = this.#startUpkeep();
    await events.start();
    this.#isFed = true;
    this.#schedulePump();
    await untilAborted(this.#signal);
    stopUpkeep();
    events.stop();
    this.#queue.stop();
    this.#notifyVolumeListeners();
    await this.#binder.idle();
    await this.#writes.idle();
  }

  #pluginContext(writes: InFlightWrites): PluginContext {
    const { cache, client, loop, event } = this.#parts;
    const onVolumeChange = (listener: () => void): (() => void) => {
      this.#volumeListeners.add(listener);
      return () => this.#volumeListeners.delete(listener);
    };
    const write: PluginContext["write"] = (send) => writes.run(send);
    return { snapshot: this.#snapshot, cache, client, loop, event, write, onVolumeChange };
  }

  #eventTarget(): ClusterEventTarget {
    return {
      snapshot: this.#snapshot,
      shapes: new PodShapes(),
      notice: (event) => this.#notice(event),
      waiting: (pod, isChanged) => this.#podWaiting(pod, isChanged),
      placed: ({ key, pod }) => {
        this.#forgetWaiting(key, pod.spec.nodeName);
        return this.#binder.shown(key);
      },
      gone: (key) => {
        this.#forgetWaiting(key);
        // A PreBind wait for the pod's volumes can end.
        if (this.#binder.shown(key)) this.#notifyVolumeListeners();
      },
      volumesChanged: () => this.#notifyVolumeListeners(),
    };
  }

  #notice(event: ClusterEvent): void {
    if (event.type === "namespaceLabels") this.#unschedulableCache.clear();
    if (event.type === "deviceClass") this.#forgetVerdicts();
    if (event.type === "nodeRemoved") {
      // No pod waits for the removed node.
      for (const { key } of [...this.#nominations.on(event.name)]) {
        this.#nominations.withdraw(key);
        this.#queue.reactivate(key);
      }
    }
    this.#queue.notice(event);
    if (event.type === "podFreed" && event.node !== undefined) this.#retryNominated(event.node);
  }

  /** Device classes decide if a node must have a resource itself, so cached filter results are invalid. */
  #forgetVerdicts(): void {
    this.#unschedulableCache.clear();
    for (const profile of this.#profiles.values()) profile.forgetVerdicts();
  }

  /** Nominated pods wait while other pods terminate on their node. Once none does, they either fit or must search again. */
  #retryNominated(node: NodeInfo): void {
    const waiting = [...this.#nominations.on(node.name)];
    if (waiting.length === 0 || [...node.pods.values()].some(({ isTerminating }) => isTerminating)) return;
    for (const { key } of waiting) if (!this.#preemptor.isPreempting(key)) this.#queue.reactivate(key);
  }

  #notifyVolumeListeners(): void {
    for (const listener of [...this.#volumeListeners]) listener();
  }

  /** The room is free for pods of the same or lower priority, which counted the nominated pod as placed. */
  #nominationFreed(pod: PodInfo, nodeName: string): void {
    this.#queue.notice({ type: "podFreed", pod, node: this.#snapshot.find(nodeName) });
  }

  #forgetWaiting(key: string, placedOn?: string): void {
    this.#queue.remove(key);
    this.#nominations.withdraw(key, placedOn);
    this.#reporter.forget(key);
  }

  /** Queues a pod of this scheduler's profiles. The caches may still show a pod without a node that was just bound. */
  #podWaiting(pod: PodInfo, isChanged: boolean): void {
    if (!this.#profiles.has(pod.schedulerName)) return;
    const isAssumed = this.#binder.isAssumed(pod);
    const isQueued = this.#queue.find(pod.key) !== undefined;
    if (isAssumed && !isQueued) return;
    const { nominatedNodeName } = pod.pod.status;
    if (nominatedNodeName !== undefined && !isAssumed) this.#nominations.nominate(pod, nominatedNodeName);
    // A nomination whose write is in flight stays.
    else if (!this.#preemptor.isPreempting(pod.key)) this.#nominations.withdraw(pod.key);
    if (isChanged || !isQueued) this.#queue.put(pod);
    else this.#queue.refresh(pod);
  }

  #schedulePump(): void {
    if (!this.#isFed || this.#isPumpPosted || this.#signal.aborted) return;
    if (!this.#queue.hasActive || this.#writes.isFull) return;
    this.#isPumpPosted = true;
    this.#parts.loop.post("loop", () => this.#pump());
  }

  #pump(): void {
    this.#isPumpPosted = false;
    const { loop } = this.#parts;
    const end = loop.elapsed() + STEP_MS_MAX;
    for (let decisions = 0; decisions < STEP_DECISIONS_MAX; decisions++) {
      if (this.#signal.aborted || this.#writes.isFull || loop.elapsed() > end) break;
      const entry = this.#queue.take();
      if (entry === undefined) break;
      this.#decide(entry);
    }
    this.#metrics.queued(this.#queue);
    this.#schedulePump();
  }

  /** A pod that breaks a plugin is reported and retried later. It does not block other pods. */
  #decide(entry: QueuedPod): void {
    entry.triedAt = this.#parts.loop.elapsed();
    entry.firstTriedAt ??= entry.triedAt;
    const profile = this.#profiles.get(entry.pod.schedulerName);
    if (profile === undefined) {
      this.#queue.remove(entry.key);
      return;
    }
    try {
      this.#schedule(entry, profile);
    } catch (error) {
      this.#parts.log.error("cannot schedule a pod", { pod: entry.key, error });
      this.#failed(entry, error);
    }
  }

  #schedule(entry: QueuedPod, profile: Profile): void {
    if (this.#snapshot.size === 0) {
      return this.#unschedulable(entry, { message: NO_NODES_MESSAGE, plugins: new Set() });
    }
    const known = this.#nominations.isEmpty ? this.#unschedulableCache.recall(entry.pod) : undefined;
    if (known !== undefined) return this.#unschedulable(entry, known);
    const decision = { entry, profile, cycle: { pod: entry.pod } };
    const placement = profile.place(decision.cycle);
    this.#metrics.decided(this.#sinceMs(entry.triedAt));
    if (placement.type === "unschedulable") return this.#rejectAttempt(decision, placement.diagnosis);
    this.#bind(decision, placement);
  }

  #rejectAttempt({ entry, profile, cycle }: Decision, diagnosis: Diagnosis): void {
    const results = profile.postFilter(cycle);
    const isPreempting = profile.has("DefaultPreemption");
    const preemption = isPreempting ? this.#preemptor.preempt(cycle, profile, diagnosis) : undefined;
    // If preemption makes room, the message of the other plugins is left out.
    const added = preemption === "" ? [] : [...results.map((result) => result.message), preemption ?? ""];
    const detail = added.filter((text) => text !== "").join(", ");
    const text = diagnosisText(diagnosis);
    const message = detail === "" ? text : `${text} ${detail}`;
    const result = { message, plugins: rejectors(diagnosis) };
    if (this.#nominations.isEmpty) this.#unschedulableCache.note(entry.pod, result);
    this.#unschedulable(entry, result);
    for (const { done } of results) done?.catch((error: unknown) => this.#postFilterFailed(entry, error));
  }

  /** The release of devices failed: the pod is tried again. */
  #postFilterFailed({ key }: QueuedPod, error: unknown): void {
    if (this.#signal.aborted) return;
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) {
      this.#parts.log.warn("cannot release devices", { pod: key, error });
    }
    this.#queue.reactivate(key);
  }

  #unschedulable(entry: QueuedPod, { message, plugins }: UnschedulableResult): void {
    this.#metrics.attempted("unschedulable", this.#sinceMs(entry.triedAt), entry.pod.schedulerName);
    this.#queue.addUnschedulable(entry, plugins);
    const nominatedNodeName = this.#nominations.nodeOf(entry.key);
    this.#reporter.report(entry.pod, { reason: "Unschedulable", message, nominatedNodeName });
  }

  #bind({ entry, profile, cycle }: Decision, choice: NodeChoice): void {
    const { node } = choice;
    this.#nominations.withdraw(entry.key, node.name);
    this.#binder.bind(cycle, choice, profile.plugins).then(
      () => this.#bound(entry, node),
      (error: unknown) => this.#notBound(entry, error),
    );
  }

  #bound(entry: QueuedPod, { name }: NodeInfo): void {
    const { pod, key } = entry;
    this.#metrics.attempted("scheduled", this.#sinceMs(entry.triedAt), pod.schedulerName);
    this.#metrics.scheduled(entry.attempts + 1, this.#sinceMs(entry.firstTriedAt ?? entry.triedAt));
    // Another pod may have this name by now.
    if (this.#queue.find(key) === entry) this.#forgetWaiting(key, name);
    const message = `Successfully assigned ${key} to ${name}`;
    const reporter = pod.schedulerName;
    this.#parts.event(pod.pod, { type: "Normal", reason: "Scheduled", action: "Binding", message, reporter });
  }

  /** Retries the pod later, unless it was deleted or bound meanwhile. */
  #notBound(entry: QueuedPod, error: unknown): void {
    if (this.#signal.aborted || this.#queue.find(entry.key) !== entry) return;
    this.#parts.log.warn("cannot bind a pod", { pod: entry.key, error });
    this.#failed(entry, error);
  }

  #failed(entry: QueuedPod, error: unknown): void {
    this.#metrics.attempted("error", this.#sinceMs(entry.triedAt), entry.pod.schedulerName);
    this.#queue.retryLater(entry);
    // NotFound and Conflict mean that the pod changed, which is no error of the pod.
    if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    const message = errorText(error);
    const nominatedNodeName = this.#nominations.nodeOf(entry.key);
    this.#reporter.report(entry.pod, { reason: "SchedulerError", message, nominatedNodeName });
  }

  #sinceMs(at: number): number {
    return this.#parts.loop.elapsed() - at;
  }

  /** Periodically queues assumed pods again whose binding never appeared in the caches. */
  #startUpkeep(): () => void {
    const { loop, cache } = this.#parts;
    const again = (): void => {
      timer = loop.timer(loop.now() + UPKEEP_EVERY_MS, "periodic", () => {
        for (const pod of this.#binder.giveUpOverdue()) {
          const shown = cache(Pod).find({ namespace: pod.namespace, name: pod.name });
          if (shown?.metadata.uid === pod.uid) this.#queue.put(pod);
        }
        again();
      });
    };
    let timer = { cancel(): void {} };
    again();
    return () => timer.cancel();
  }
}
