/**
 * A scheduler at work. Its main loop is `#pump`: it takes pods from the queue one after the other, decides in one go about each, and lets
 * the writes that follow run beside the next decisions, within a bound. Everything it knows it has from the caches, so that it can be ended
 * at any moment and started anew.
 */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { ClusterFeed, type FeedTarget } from "./cluster-feed.ts";
import type { ClusterEvent } from "./framework/cluster-event.ts";
import { diagnosisText, type Diagnosis, NO_NODES_MESSAGE, rejectors } from "./framework/diagnosis.ts";
import { Nominations } from "./framework/nominations.ts";
import type { Cycle, PluginContext } from "./framework/plugin.ts";
import type { Profile } from "./framework/profile.ts";
import { InFlightWrites } from "./in-flight-writes.ts";
import { PodBinder } from "./pod-binder.ts";
import { PodReporter } from "./pod-reporter.ts";
import { Preemptor } from "./preemption/preemptor.ts";
import { Hints } from "./queue/hints.ts";
import type { QueuedPod } from "./queue/queued-pod.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import { type SchedulerMetrics, schedulerMetrics } from "./scheduler-metrics.ts";
import { ClusterSnapshot } from "./snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "./snapshot/node-info.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";
import { PodShapes } from "./snapshot/pod-shape.ts";
import { type Unfit, UnfitMemory } from "./unfit-memory.ts";

/** Enough that commits are shared, few enough that a slow server is not flooded. */
const WRITES_MAX = 100;

/** Decisions of one step: many more would keep others from the thread. */
const STEP_DECISIONS_MAX = 32;
const STEP_MS_MAX = 4;

const UPKEEP_EVERY_MS = 30_000;

interface Decision {
  readonly entry: QueuedPod;
  readonly profile: Profile;
  readonly cycle: Cycle;
}

export type ProfileMaker = (context: PluginContext, nominations: Nominations) => readonly Profile[];

export class SchedulerRun {
  readonly #parts: RoutineParts;
  readonly #signal: AbortSignal;
  readonly #metrics: SchedulerMetrics;
  readonly #snapshot = new ClusterSnapshot();
  readonly #nominations = new Nominations((pod, nodeName) => this.#promiseFreed(pod, nodeName));
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #queue: SchedulingQueue;
  readonly #writes: InFlightWrites;
  readonly #binder: PodBinder;
  readonly #preemptor: Preemptor;
  readonly #reporter: PodReporter;
  readonly #unfitMemory = new UnfitMemory(this.#snapshot);
  readonly #volumeListeners = new Set<() => void>();
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
      hints: new Hints(profiles),
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
    const feed = new ClusterFeed(this.#feedTarget(), this.#parts);
    feed.start();
    this.#queue.start();
    const stopUpkeep = this.#startUpkeep();
    await untilAborted(this.#signal);
    stopUpkeep();
    feed.stop();
    this.#queue.stop();
    this.#tellVolumeListeners();
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

  #feedTarget(): FeedTarget {
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
        // Whoever waits for its volumes need not any longer.
        if (this.#binder.shown(key)) this.#tellVolumeListeners();
      },
      volumesChanged: () => this.#tellVolumeListeners(),
    };
  }

  #notice(event: ClusterEvent): void {
    if (event.type === "namespaceLabels") this.#unfitMemory.clear();
    if (event.type === "deviceClass") this.#forgetVerdicts();
    if (event.type === "nodeRemoved") {
      // Nobody need wait for it any longer.
      for (const { key } of [...this.#nominations.on(event.name)]) {
        this.#nominations.withdraw(key);
        this.#queue.reactivate(key);
      }
    }
    this.#queue.notice(event);
    if (event.type === "podFreed" && event.node !== undefined) this.#lookAgain(event.node);
  }

  /** Whether a node must have a resource itself depends on the classes there are. */
  #forgetVerdicts(): void {
    this.#unfitMemory.clear();
    for (const profile of this.#profiles.values()) profile.forgetVerdicts();
  }

  /** Pods wait for a node while others leave it. When none does any more, they fit by now or have waited in vain. */
  #lookAgain(node: NodeInfo): void {
    const waiting = [...this.#nominations.on(node.name)];
    if (waiting.length === 0 || [...node.pods.values()].some(({ isTerminating }) => isTerminating)) return;
    for (const { key } of waiting) if (!this.#preemptor.isPreempting(key)) this.#queue.reactivate(key);
  }

  #tellVolumeListeners(): void {
    for (const listener of [...this.#volumeListeners]) listener();
  }

  /** Those of the same or less importance counted the pod as placed there. */
  #promiseFreed(pod: PodInfo, nodeName: string): void {
    this.#queue.notice({ type: "podFreed", pod, node: this.#snapshot.find(nodeName) });
  }

  #forgetWaiting(key: string, placedOn?: string): void {
    this.#queue.remove(key);
    this.#nominations.withdraw(key, placedOn);
    this.#reporter.forget(key);
  }

  /** Only pods of its own profiles are its business. One that it has just bound is shown without a node for a moment still. */
  #podWaiting(pod: PodInfo, isChanged: boolean): void {
    if (!this.#profiles.has(pod.schedulerName)) return;
    const isAssumed = this.#binder.isAssumed(pod);
    const isQueued = this.#queue.find(pod.key) !== undefined;
    if (isAssumed && !isQueued) return;
    const { nominatedNodeName } = pod.pod.status;
    if (nominatedNodeName !== undefined && !isAssumed) this.#nominations.nominate(pod, nominatedNodeName);
    // A nomination of this scheduler that is not written yet stands.
    else if (!this.#preemptor.isPreempting(pod.key)) this.#nominations.withdraw(pod.key);
    if (isChanged || !isQueued) this.#queue.put(pod);
    else this.#queue.refresh(pod);
  }

  #schedulePump(): void {
    if (this.#isPumpPosted || this.#signal.aborted) return;
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

  /** A pod that breaks a plugin is reported and tried again later; it keeps nobody else from a node. */
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
      this.#parts.log.error("a pod could not be scheduled", { pod: entry.key, error });
      this.#failed(entry, error);
    }
  }

  #schedule(entry: QueuedPod, profile: Profile): void {
    if (this.#snapshot.size === 0) {
      return this.#unschedulable(entry, { message: NO_NODES_MESSAGE, plugins: new Set() });
    }
    const known = this.#nominations.isEmpty ? this.#unfitMemory.recall(entry.pod) : undefined;
    if (known !== undefined) return this.#unschedulable(entry, known);
    const decision = { entry, profile, cycle: { pod: entry.pod } };
    const placement = profile.place(decision.cycle);
    this.#metrics.decided(this.#sinceMs(entry.triedAt));
    if (placement.type === "unfit") return this.#unfit(decision, placement.diagnosis);
    this.#bind(decision, placement.node);
  }

  #unfit({ entry, profile, cycle }: Decision, diagnosis: Diagnosis): void {
    const reliefs = profile.relieve(cycle);
    const isPreempting = profile.has("DefaultPreemption");
    const preemption = isPreempting ? this.#preemptor.preempt(cycle, profile, diagnosis) : undefined;
    // Where others make room, nothing else counts.
    const added = preemption === "" ? [] : [...reliefs.map((relief) => relief.message), preemption ?? ""];
    const detail = added.filter((text) => text !== "").join(", ");
    const text = diagnosisText(diagnosis);
    const message = detail === "" ? text : `${text} ${detail}`;
    const unfit = { message, plugins: rejectors(diagnosis) };
    if (this.#nominations.isEmpty) this.#unfitMemory.note(entry.pod, unfit);
    this.#unschedulable(entry, unfit);
    for (const { done } of reliefs) done?.catch((error: unknown) => this.#notRelieved(entry, error));
  }

  /** What was to help did not come off: the pod looks again. */
  #notRelieved({ key }: QueuedPod, error: unknown): void {
    if (this.#signal.aborted) return;
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) {
      this.#parts.log.warn("devices could not be given back", { pod: key, error });
    }
    this.#queue.reactivate(key);
  }

  #unschedulable(entry: QueuedPod, { message, plugins }: Unfit): void {
    this.#metrics.attempted("unschedulable", this.#sinceMs(entry.triedAt), entry.pod.schedulerName);
    this.#queue.park(entry, plugins);
    const nominatedNodeName = this.#nominations.nodeOf(entry.key);
    this.#reporter.report(entry.pod, { reason: "Unschedulable", message, nominatedNodeName });
  }

  #bind({ entry, profile, cycle }: Decision, node: NodeInfo): void {
    this.#nominations.withdraw(entry.key, node.name);
    this.#binder.bind(cycle, node, profile.plugins).then(
      () => this.#bound(entry, node),
      (error: unknown) => this.#notBound(entry, error),
    );
  }

  #bound(entry: QueuedPod, { name }: NodeInfo): void {
    const { pod, key } = entry;
    this.#metrics.attempted("scheduled", this.#sinceMs(entry.triedAt), pod.schedulerName);
    this.#metrics.scheduled(entry.attempts + 1, this.#sinceMs(entry.firstTriedAt ?? entry.triedAt));
    // Another pod may have come under this name meanwhile.
    if (this.#queue.find(key) === entry) this.#forgetWaiting(key, name);
    const message = `Successfully assigned ${key} to ${name}`;
    const reporter = pod.schedulerName;
    this.#parts.event(pod.pod, { type: "Normal", reason: "Scheduled", action: "Binding", message, reporter });
  }

  /** It is tried again later, unless it has gone or has got a node meanwhile. */
  #notBound(entry: QueuedPod, error: unknown): void {
    if (this.#signal.aborted || this.#queue.find(entry.key) !== entry) return;
    this.#parts.log.warn("a pod could not be bound", { pod: entry.key, error });
    this.#failed(entry, error);
  }

  #failed(entry: QueuedPod, error: unknown): void {
    this.#metrics.attempted("error", this.#sinceMs(entry.triedAt), entry.pod.schedulerName);
    this.#queue.retryLater(entry);
    // A pod that has changed under the scheduler's hands has nothing wrong with it.
    if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    const message = errorText(error);
    const nominatedNodeName = this.#nominations.nodeOf(entry.key);
    this.#reporter.report(entry.pod, { reason: "SchedulerError", message, nominatedNodeName });
  }

  #sinceMs(at: number): number {
    return this.#parts.loop.elapsed() - at;
  }

  /** Pods whose binding never was shown are looked at again. */
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
