/**
 * Queue of the pods without a node.
 *
 * An unschedulable pod waits until an event may help it, or for some minutes. Each failed attempt doubles its back-off.
 */

import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PluginName } from "../framework/scheduler-plugin.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { Heap } from "./heap.ts";
import { backoffEnd, type QueuedPod, type QueuePlace } from "./queued-pod.ts";
import { UnschedulablePods } from "./unschedulable-pods.ts";

/** Upper bound of the time a pod is unschedulable, in case a plugin missed a helpful event. */
const PARKED_MAX_MS = 300_000;
const FLUSH_EVERY_MS = 30_000;

/** Knowledge of the plugins about which events help which pods. */
export interface QueueingHints {
  /** Plugins that hold the pod back before its first attempt. */
  holders(pod: PodInfo): ReadonlySet<PluginName>;
  /** Plugins for which events of this type can help at all. */
  plugins(type: ClusterEvent["type"]): Iterable<PluginName>;
  /** True if the event may help the pod, according to a plugin that rejected it. */
  helps(entry: QueuedPod, event: ClusterEvent): boolean;
}

export interface QueueOptions {
  readonly loop: Loop;
  readonly hints: QueueingHints;
  /** Called when a pod becomes active. */
  readonly onActive: () => void;
}

/** Entry of a heap. Its sort keys never change. It is void if its stamp differs from its entry's. */
interface Ticket {
  readonly entry: QueuedPod;
  readonly stamp: number;
  readonly at: number;
  readonly priority: number;
  readonly sequence: number;
}

/** Void tickets are removed when they outnumber the others by this. */
const VOID_TICKETS_MAX = 1024;

export class SchedulingQueue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, QueuedPod>();
  /** Unschedulable pods by rejecting plugin, so that an event costs no time for pods it cannot help. */
  readonly #unschedulable = new UnschedulablePods();
  readonly #active = new Heap<Ticket>(isBefore);
  readonly #waiting = new Heap<Ticket>((a, b) => a.at < b.at || (a.at === b.at && isBefore(a, b)));
  readonly #counts: Record<QueuePlace, number> = {
    active: 0,
    backoff: 0,
    unschedulable: 0,
    gated: 0,
    inFlight: 0,
  };
  #sequence = 0;
  #stamp = 0;
  #backoffTimer: { readonly at: number; readonly timer: Timer } | undefined;
  #flushTimer: Timer | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  count(place: QueuePlace): number {
    return this.#counts[place];
  }

  find(key: string): QueuedPod | undefined {
    return this.#entries.get(key);
  }

  start(): void {
    const { loop } = this.#options;
    this.#flushTimer = loop.timer(loop.now() + FLUSH_EVERY_MS, "periodic", () => {
      this.#flush();
      this.start();
    });
  }

  stop(): void {
    this.#flushTimer?.cancel();
    this.#backoffTimer?.timer.cancel();
  }

  /** Queues a new pod, or one whose spec or labels changed: earlier results no longer hold. */
  put(pod: PodInfo): void {
    const found = this.#entries.get(pod.key);
    if (found !== undefined && found.pod.uid === pod.uid) return this.#renew(found, pod);
    if (found !== undefined) this.remove(pod.key);
    const entry: QueuedPod = {
      key: pod.key,
      pod,
      place: "gated",
      sequence: this.#sequence++,
      attempts: 0,
      triedAt: 0,
      firstTriedAt: undefined,
      failedAt: 0,
      rejectors: new Set(),
      stamp: 0,
    };
    this.#entries.set(entry.key, entry);
    this.#counts.gated++;
    if (!isGated(pod)) this.#activate(entry);
  }

  /** Updates a pod whose status changed: a new attempt would give the same result. */
  refresh(pod: PodInfo): void {
    const entry = this.#entries.get(pod.key);
    if (entry !== undefined && entry.pod.uid === pod.uid) entry.pod = pod;
  }

  remove(key: string): QueuedPod | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#counts[entry.place]--;
    this.#entries.delete(key);
    this.#unschedulable.delete(entry);
    entry.stamp = ++this.#stamp;
    return entry;
  }

  /** Takes the active pod with the highest priority that waited longest. It is in flight until it is removed or queued again. */
  take(): QueuedPod | undefined {
    for (let ticket = this.#active.pop(); ticket !== undefined; ticket = this.#active.pop()) {
      const { entry, stamp } = ticket;
      if (entry.stamp !== stamp) continue;
      this.#move(entry, "inFlight");
      return entry;
    }
    return undefined;
  }

  get hasActive(): boolean {
    return this.#counts.active > 0;
  }

  /** Parks a pod until an event may help it with one of these plugins. */
  addUnschedulable(entry: QueuedPod, rejectors: ReadonlySet<PluginName>): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#failed(entry);
    this.#move(entry, "unschedulable");
    entry.rejectors = rejectors;
    this.#unschedulable.add(entry);
  }

  /** Activates an unschedulable pod for a reason other than a cluster event. */
  reactivate(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.place === "unschedulable") this.#activate(entry);
  }

  /** Retries a pod after an error that does not concern its fit. */
  retryLater(entry: QueuedPod): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#failed(entry);
    this.#activate(entry);
  }

  /** Activates the unschedulable pods that the event may help. */
  notice(event: ClusterEvent): void {
    if (this.#counts.unschedulable + this.#counts.gated === 0) return;
    const { hints } = this.#options;
    if (event.type === "nodeAdded")
      for (const entry of this.#unschedulable.withoutNodes()) this.#activate(entry);
    for (const plugin of hints.plugins(event.type)) {
      // The iterator skips entries that leave meanwhile. An entry held back by a plugin is visited once more.
      for (const entry of this.#unschedulable.rejectedBy(plugin)) {
        if (hints.helps(entry, event)) this.#activate(entry);
      }
    }
  }

  #renew(entry: QueuedPod, pod: PodInfo): void {
    entry.pod = pod;
    if (entry.place === "inFlight") return;
    if (isGated(pod)) return this.#move(entry, "gated");
    // A pod's priority is immutable, so its place in the active heap stays right.
    if (entry.place === "gated" || entry.place === "unschedulable") this.#activate(entry);
  }

  #failed(entry: QueuedPod): void {
    entry.attempts++;
    entry.failedAt = this.#options.loop.elapsed();
    entry.sequence = this.#sequence++;
  }

  #activate(entry: QueuedPod): void {
    const { loop, onActive, hints } = this.#options;
    const holders = hints.holders(entry.pod);
    if (holders.size > 0) return this.#hold(entry, holders);
    const at = backoffEnd(entry);
    if (at > loop.elapsed()) {
      this.#move(entry, "backoff");
      this.#pushTicket(this.#waiting, entry, at);
      return this.#armBackoff();
    }
    this.#move(entry, "active");
    this.#pushTicket(this.#active, entry, at);
    onActive();
  }

  /** Keeps the pod among the unschedulable pods, although it was not tried. */
  #hold(entry: QueuedPod, holders: ReadonlySet<PluginName>): void {
    if (entry.place === "gated" && entry.rejectors.size > 0) return;
    this.#move(entry, "gated");
    entry.rejectors = holders;
    this.#unschedulable.add(entry);
  }

  #pushTicket(heap: Heap<Ticket>, entry: QueuedPod, at: number): void {
    const { stamp, sequence, pod } = entry;
    heap.push({ entry, stamp, at, sequence, priority: pod.priority });
    const most = this.#counts.active + this.#counts.backoff + VOID_TICKETS_MAX;
    if (heap.size > 2 * most) heap.retain((ticket) => ticket.entry.stamp === ticket.stamp);
  }

  #move(entry: QueuedPod, place: QueuePlace): void {
    this.#counts[entry.place]--;
    this.#counts[place]++;
    entry.place = place;
    entry.stamp = ++this.#stamp;
    this.#unschedulable.delete(entry);
  }

  #armBackoff(): void {
    const { loop } = this.#options;
    const next = this.#waiting.peek();
    if (next === undefined) return;
    if (this.#backoffTimer !== undefined && this.#backoffTimer.at <= next.at) return;
    this.#backoffTimer?.timer.cancel();
    const timer = loop.timer(loop.now() + next.at - loop.elapsed(), "progress", () => {
      this.#backoffTimer = undefined;
      this.#endBackoffs();
    });
    this.#backoffTimer = { at: next.at, timer };
  }

  #endBackoffs(): void {
    const elapsed = this.#options.loop.elapsed();
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      const isCurrent = next.entry.stamp === next.stamp;
      if (isCurrent && next.at > elapsed) break;
      this.#waiting.pop();
      if (isCurrent) this.#activate(next.entry);
    }
    this.#armBackoff();
  }

  #flush(): void {
    const latest = this.#options.loop.elapsed() - PARKED_MAX_MS;
    for (const entry of this.#entries.values()) {
      if (entry.place === "unschedulable" && entry.failedAt <= latest) this.#activate(entry);
    }
  }
}

function isBefore(left: Ticket, right: Ticket): boolean {
  if (left.priority !== right.priority) return left.priority > right.priority;
  return left.sequence < right.sequence;
}

function isGated({ pod }: PodInfo): boolean {
  return (pod.spec.schedulingGates ?? []).length > 0;
}
