/**
 * Marks nodes without heartbeats, and taints nodes by their conditions.
 *
 * Reads Nodes, their Leases and Pods. A silent node gets conditions `Unknown`, and its pods become unready. Conditions become NoSchedule
 * taints at once. NoExecute taints follow one node at a time, at a rate that depends on the zone's health. Writes conditions and taints of
 * Nodes and the condition `Ready` of Pods.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Lease } from "../../api/generated/types/coordination-v1.ts";
import { Node, Pod, type Taint } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import { wholeSecondWithin } from "../../base/loop/whole-second.ts";
import type { Patch } from "../../client/client.ts";
import type { Client } from "../../client/client.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteLimiter } from "../../runtime/controller/write-limiter.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import { podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import {
  observeHeartbeat,
  isLost,
  isNodeReady,
  isUnready,
  graceEndsAt,
  unknownConditions,
  type NodeHealth,
} from "./node-health.ts";
import { findTaintChange, isEvicting } from "./node-taints.ts";
import { ZoneCounts, zoneOf, type ZoneHealth } from "./zone-health.ts";
import { ZoneQueues } from "./zone-queues.ts";

const NAME = "node-controller";
const LEASES = "kube-node-lease";
/** Interval of the check of all nodes, as upstream's. */
const PERIOD_MS = 5000;
/** Upper bound of the nodes reconciled in one step: each may send a write. */
const RECONCILED_TOGETHER = 32;
/** Interval at which queued nodes are tainted NoExecute, while some are queued. */
const QUEUE_MS = 1000;

export const nodeLifecycleRoutine: Routine = {
  name: NAME,
  reads: [Node, Lease, Pod],
  indexes: [podsByNode],
  run: (parts, signal) => new LifecycleRun(parts, signal).run(),
};

class LifecycleRun {
  readonly #parts: RoutineParts;
  /** Errors after its abort are ignored. */
  readonly #signal: AbortSignal;
  readonly #health = new Map<string, NodeHealth>();
  readonly #marked = new Set<string>();
  /** Nodes that became unready and whose pods are still to be marked unready. Done once: a living kubelet corrects it afterwards. */
  readonly #lost = new Set<string>();
  /** Nodes with a failed write, to be retried. */
  readonly #failed = new Set<string>();
  /** Node versions whose write was refused: a newer version exists and will arrive soon. */
  readonly #outdated = new Map<string, string>();
  readonly #queues = new ZoneQueues();
  readonly #writes = new WriteLimiter<string>();
  readonly #counts = new ZoneCounts();
  #zones: ZoneHealth = { zones: new Map(), isFullOutage: false };
  #period: Timer | undefined;
  #queueing: Timer | undefined;
  #isScheduled = false;
  /** False until all existing nodes were counted: a part of them would look like an outage. */
  #isComplete = false;

  constructor(parts: RoutineParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { subscribe } = this.#parts;
    const leave = [
      subscribe(Node, (change) => this.#nodeChanged(change)),
      subscribe(Lease, ({ after }) => this.#leaseChanged(after)),
    ];
    await this.#visitAll((node) => {
      if (isLost(node)) this.#lost.add(node.metadata.name);
      this.#noteHeartbeat(node.metadata.name, node);
    });
    this.#isComplete = true;
    this.#schedule();
    await this.#checkAll();
    await untilAborted(this.#signal);
    for (const each of leave) each();
    this.#period?.cancel();
    this.#queueing?.cancel();
    await this.#writes.quiet();
  }

  /** In slices: the visit takes several steps. */
  async #visitAll(visit: (node: Node) => void): Promise<void> {
    const { loop, cache } = this.#parts;
    const visitUnlessAborted = (node: Node): void => {
      if (!this.#signal.aborted) visit(node);
    };
    await runInTurns(inSlices(cache(Node).walk(), visitUnlessAborted), loop, "loop");
  }

  #nodeChanged({ before, after }: ObjectChange<Node>): void {
    if (after === undefined) {
      if (before !== undefined) this.#forget(before);
      return;
    }
    const { name } = after.metadata;
    if (before === undefined) {
      this.#report(after, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`);
    }
    if (before !== undefined && isNodeReady(before) && !isNodeReady(after)) {
      this.#lost.add(name);
      this.#report(after, "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    }
    this.#noteHeartbeat(name, after);
  }

  #forget(node: Node): void {
    const { name } = node.metadata;
    this.#health.delete(name);
    this.#counts.remove(name);
    this.#outdated.delete(name);
    this.#marked.delete(name);
    this.#lost.delete(name);
    this.#queues.remove(name);
    this.#report(node, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`);
  }

  #leaseChanged(lease: Lease | undefined): void {
    if (lease === undefined || lease.metadata.namespace !== LEASES) return;
    const { name } = lease.metadata;
    const known = this.#health.get(name);
    if (known !== undefined)
      this.#health.set(name, observeHeartbeat(known, { lease }, this.#parts.loop.elapsed()));
  }

  #noteHeartbeat(name: string, node: Node): void {
    const lease = this.#parts.cache(Lease).find({ namespace: LEASES, name });
    this.#counts.put(node);
    this.#health.set(
      name,
      observeHeartbeat(this.#health.get(name), { node, lease }, this.#parts.loop.elapsed()),
    );
    this.#mark(name);
  }

  #report(node: Node, reason: string, message: string): void {
    this.#parts.event(node, { type: "Normal", reason, message });
  }

  /** Checks all nodes periodically: a missing heartbeat causes no event. */
  async #checkAll(): Promise<void> {
    const { loop } = this.#parts;
    const heardUntil = this.#heardUntil();
    await this.#visitAll((node) => {
      const health = this.#health.get(node.metadata.name);
      if (health !== undefined && graceEndsAt(health, node) <= heardUntil) this.#mark(node.metadata.name);
    });
    if (this.#signal.aborted) return;
    for (const name of this.#failed) this.#mark(name);
    this.#failed.clear();
    this.#period = loop.timer(wholeSecondWithin(loop.now(), PERIOD_MS), "periodic", () => this.#checkAll());
  }

  /** Subtracts the time since the Lease watch last delivered: a broken watch delivers no heartbeats (Loop.elapsed). */
  #heardUntil(): number {
    const { loop, silenceMs } = this.#parts;
    return loop.elapsed() - silenceMs(Lease);
  }

  #mark(name: string): void {
    this.#marked.add(name);
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isComplete || this.#isScheduled || this.#signal.aborted || this.#marked.size === 0) return;
    this.#isScheduled = true;
    this.#parts.loop.post("loop", () => this.#work());
  }

  #work(): void {
    this.#isScheduled = false;
    if (this.#signal.aborted) return;
    this.#updateZones();
    const heardUntil = this.#heardUntil();
    let left = RECONCILED_TOGETHER;
    for (const name of this.#marked) {
      if (left-- === 0) break;
      this.#marked.delete(name);
      this.#reconcile(name, heardUntil);
    }
    this.#schedule();
    this.#awaitQueues();
  }

  /**
   * Recomputes the zones' rates. When a full outage starts or ends, all nodes are reconciled; after it, every node's grace period restarts.
   */
  #updateZones(): void {
    const { cache, loop } = this.#parts;
    const wasFullOutage = this.#zones.isFullOutage;
    this.#zones = this.#counts.health();
    if (this.#zones.isFullOutage === wasFullOutage) return;
    for (const { metadata } of cache(Node).walk()) {
      const health = this.#health.get(metadata.name);
      if (health !== undefined && wasFullOutage) {
        this.#health.set(metadata.name, { ...health, lastHeartbeatAt: loop.elapsed() });
      }
      this.#mark(metadata.name);
    }
  }

  #reconcile(name: string, heardUntil: number): void {
    const { loop, cache } = this.#parts;
    const node = cache(Node).find({ name });
    const health = this.#health.get(name);
    if (node === undefined || health === undefined) return;
    const time = timeText(loop.now());
    const conditions = graceEndsAt(health, node) <= heardUntil ? unknownConditions(node, time) : [];
    if (conditions.length > 0) {
      const patch = { type: "strategic", changes: { status: { conditions } } } as const;
      const client = this.#about(node, "has not renewed its lease in time");
      this.#send(name, name, () => client(Node).patch(node, patch, { subresource: "status" }));
      return;
    }
    this.#taint(node, time);
    if (this.#lost.delete(name) && isLost(node)) this.#unreadyPods(node);
  }

  /** A ready node loses its NoExecute taint at once. An unready one is queued for it. */
  #taint(node: Node, time: string): void {
    const { name } = node.metadata;
    const evicts = !this.#zones.isFullOutage && isEvicting(node);
    const taints = findTaintChange(node, { evicts, time });
    if (taints !== undefined) this.#writeTaints(node, taints);
    const waits = isUnready(node) && !isEvicting(node) && !this.#zones.isFullOutage;
    if (waits) this.#queues.add(name, zoneOf(node));
    else this.#queues.remove(name);
  }

  #writeTaints(node: Node, taints: readonly Taint[]): void {
    const { name, resourceVersion } = node.metadata;
    if (this.#outdated.get(name) === resourceVersion) return;
    this.#send(name, name, async () => {
      try {
        await this.#about(node, "needs other taints")(Node).patch(node, taintPatch(node, taints));
      } catch (error) {
        if (!isApiError(error, "Conflict") && !isApiError(error, "Invalid")) throw error;
        this.#outdated.set(name, resourceVersion);
      }
    });
  }

  #about(node: Node, note: string): Client {
    return withCause(this.#parts.client, { loop: "node-lifecycle", type: Node, object: node, note });
  }

  #unreadyPods(node: Node): void {
    const { name } = node.metadata;
    const time = timeText(this.#parts.loop.now());
    for (const pod of podsOnNode(name, this.#parts.cache)) {
      if (!isReady(pod)) continue;
      const conditions = [{ type: "Ready", status: "False", lastTransitionTime: time }];
      const patch = { type: "strategic", changes: { status: { conditions } } } as const;
      this.#parts.event(pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
      this.#send(`pod ${pod.metadata.uid}`, name, async () => {
        try {
          await this.#about(node, "is not ready")(Pod).patch(pod, patch, { subresource: "status" });
        } catch (error) {
          this.#lost.add(name);
          throw error;
        }
      });
    }
  }

  #awaitQueues(): void {
    if (this.#queues.isEmpty || this.#queueing !== undefined || this.#signal.aborted) return;
    const { loop } = this.#parts;
    this.#queueing = loop.timer(loop.now() + QUEUE_MS, "periodic", () => {
      this.#queueing = undefined;
      this.#taintQueued();
      this.#awaitQueues();
    });
  }

  #taintQueued(): void {
    const { loop, cache } = this.#parts;
    for (const name of this.#queues.takeDue(this.#zones.zones, loop.elapsed())) {
      const node = cache(Node).find({ name });
      if (node === undefined || !isUnready(node)) continue;
      const taints = findTaintChange(node, { evicts: true, time: timeText(loop.now()) });
      if (taints !== undefined) this.#writeTaints(node, taints);
    }
  }

  /**
   * After a write, reconciles the node again if it changed meanwhile; otherwise the write's own watch event does. A failed write is retried
   * at the next check.
   */
  #send(subject: string, node: string, write: () => Promise<unknown>): void {
    const version = this.#versionOf(node);
    this.#writes.send(subject, async () => {
      try {
        await write();
      } catch (error) {
        if (isApiError(error, "NotFound") || this.#signal.aborted) return;
        if (!isApiError(error, "Conflict"))
          this.#parts.log.warn("cannot write a node or its pods; retrying", { node, subject, error });
        this.#failed.add(node);
        return;
      }
      if (subject === node && this.#versionOf(node) !== version) this.#mark(node);
    });
  }

  #versionOf(name: string): string | undefined {
    return this.#parts.cache(Node).find({ name })?.metadata.resourceVersion;
  }
}

/** The server refuses the patch if the taints changed meanwhile; other changes of the node do not conflict. */
function taintPatch({ metadata, spec }: Node, taints: readonly Taint[]): Patch {
  const path = "/spec/taints";
  if (spec.taints === undefined) {
    const { resourceVersion } = metadata;
    return { type: "merge", changes: { metadata: { resourceVersion }, spec: { taints } } };
  }
  const change =
    taints.length === 0
      ? ({ op: "remove", path } as const)
      : ({ op: "replace", path, value: taints } as const);
  return { type: "json", operations: [{ op: "test", path, value: spec.taints }, change] };
}
