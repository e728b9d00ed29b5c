/**
 * Keeps what is said of nodes true when they no longer say it themselves.
 *
 * Reads Nodes, their Leases and Pods. A node of which nothing is heard gets conditions `Unknown`, its pods are no longer ready; conditions become
 * taints that keep pods away at once, and taints that drive pods away one node after the other, at a rate that depends on the health of its zone.
 * Writes conditions and taints of Nodes and the condition `Ready` of Pods, nothing else.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Lease } from "../../api/generated/types/coordination-v1.ts";
import { Node, Pod, type Taint } from "../../api/generated/types/core-v1.ts";
import { formatTime } from "../../api/values/time.ts";
import { beatWithin } from "../../base/loop/beat.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Patch } from "../../client/client.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteWindow } from "../../runtime/controller/write-window.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import {
  hear,
  isLost,
  isNodeReady,
  isUnready,
  silentAt,
  unknownConditions,
  type NodeHealth,
} from "./node-health.ts";
import { findTaintChange, isDriving } from "./node-taints.ts";
import { zoneHealth, zoneOf, type ZoneHealth } from "./zone-health.ts";
import { ZoneQueues } from "./zone-queues.ts";

const NAME = "node-controller";
const LEASES = "kube-node-lease";
/** As upstream's: how often all nodes are looked at. */
const PERIOD_MS = 5000;
/** How often it is looked whether the next node may drive its pods away, while one waits. */
const QUEUE_MS = 1000;

export const nodeLifecycleRoutine: Routine = {
  name: NAME,
  reads: [Node, Lease, Pod],
  indexes: [podsByNode],
  run: (parts, signal) => new LifecycleRun(parts, signal).run(),
};

class LifecycleRun {
  readonly #parts: RoutineParts;
  /** What fails once it is aborted is no failure. */
  readonly #signal: AbortSignal;
  readonly #health = new Map<string, NodeHealth>();
  readonly #marked = new Set<string>();
  /** Nodes that were lost and whose pods have not been told of it: once, since a node that lives knows better afterwards. */
  readonly #lost = new Set<string>();
  /** Nodes of which something could not be written. */
  readonly #failed = new Set<string>();
  /** Versions of nodes that a write was refused for: there is a newer one, which is heard of soon. */
  readonly #outdated = new Map<string, string>();
  readonly #queues = new ZoneQueues();
  readonly #writes = new WriteWindow<string>();
  #zones: ZoneHealth = { zones: new Map(), isAllDark: false };
  #period: Timer | undefined;
  #queueing: Timer | undefined;
  #isScheduled = false;

  constructor(parts: RoutineParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { subscribe, cache } = this.#parts;
    const leave = [
      subscribe(Node, (change) => this.#nodeChanged(change)),
      subscribe(Lease, ({ after }) => this.#leaseChanged(after)),
    ];
    for (const node of cache(Node).list()) {
      if (isLost(node)) this.#lost.add(node.metadata.name);
      this.#hearOf(node.metadata.name, node);
    }
    this.#look();
    await untilAborted(this.#signal);
    for (const each of leave) each();
    this.#period?.cancel();
    this.#queueing?.cancel();
    await this.#writes.quiet();
  }

  #nodeChanged({ before, after }: ObjectChange<Node>): void {
    if (after === undefined) {
      if (before !== undefined) this.#forget(before);
      return;
    }
    const { name } = after.metadata;
    if (before === undefined) {
      this.#tell(after, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`);
    }
    if (before !== undefined && isNodeReady(before) && !isNodeReady(after)) {
      this.#lost.add(name);
      this.#tell(after, "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    }
    this.#hearOf(name, after);
  }

  #forget(node: Node): void {
    const { name } = node.metadata;
    this.#health.delete(name);
    this.#outdated.delete(name);
    this.#marked.delete(name);
    this.#lost.delete(name);
    this.#queues.remove(name);
    this.#tell(node, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`);
  }

  #leaseChanged(lease: Lease | undefined): void {
    if (lease === undefined || lease.metadata.namespace !== LEASES) return;
    const { name } = lease.metadata;
    const known = this.#health.get(name);
    if (known !== undefined) this.#health.set(name, hear(known, { lease }, this.#parts.loop.elapsed()));
  }

  #hearOf(name: string, node: Node): void {
    const lease = this.#parts.cache(Lease).find({ namespace: LEASES, name });
    this.#health.set(name, hear(this.#health.get(name), { node, lease }, this.#parts.loop.elapsed()));
    this.#mark(name);
  }

  #tell(node: Node, reason: string, message: string): void {
    this.#parts.event(node, { type: "Normal", reason, message });
  }

  /** All nodes, from time to time: silence is no event. */
  #look(): void {
    if (this.#signal.aborted) return;
    const { loop, cache } = this.#parts;
    const heardUntil = this.#heardUntil();
    for (const node of cache(Node).list()) {
      const health = this.#health.get(node.metadata.name);
      if (health !== undefined && silentAt(health, node) <= heardUntil) this.#mark(node.metadata.name);
    }
    for (const name of this.#failed) this.#mark(name);
    this.#failed.clear();
    this.#period = loop.timer(beatWithin(loop.now(), PERIOD_MS), "periodic", () => this.#look());
  }

  /** Whose own watch has broken knows nothing of who spoke since (Loop.elapsed). */
  #heardUntil(): number {
    const { loop, silenceMs } = this.#parts;
    return loop.elapsed() - silenceMs(Lease);
  }

  #mark(name: string): void {
    this.#marked.add(name);
    if (this.#isScheduled || this.#signal.aborted) return;
    this.#isScheduled = true;
    this.#parts.loop.post("loop", () => this.#work());
  }

  #work(): void {
    this.#isScheduled = false;
    if (this.#signal.aborted) return;
    const marked = [...this.#marked];
    this.#marked.clear();
    this.#weighZones();
    const heardUntil = this.#heardUntil();
    for (const name of marked) this.#reconcile(name, heardUntil);
    this.#awaitQueues();
  }

  /** Rates follow the health of the zones; leaving the dark, every node gets its time anew. */
  #weighZones(): void {
    const { cache, loop } = this.#parts;
    const wasAllDark = this.#zones.isAllDark;
    const nodes = cache(Node).list();
    this.#zones = zoneHealth(nodes);
    if (this.#zones.isAllDark === wasAllDark) return;
    for (const { metadata } of nodes) {
      const health = this.#health.get(metadata.name);
      if (health !== undefined && wasAllDark) {
        this.#health.set(metadata.name, { ...health, heardAt: loop.elapsed() });
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
    const conditions = silentAt(health, node) <= heardUntil ? unknownConditions(node, time) : [];
    if (conditions.length > 0) {
      const patch = { type: "strategic", changes: { status: { conditions } } } as const;
      this.#send(name, name, () => this.#parts.client(Node).patch(node, patch, { subresource: "status" }));
      return;
    }
    this.#taint(node, time);
    if (this.#lost.delete(name) && isLost(node)) this.#unreadyPods(node);
  }

  /** A node that is ready again lets pods stay at once; one that is not waits for its turn to drive them away. */
  #taint(node: Node, time: string): void {
    const { name } = node.metadata;
    const drives = !this.#zones.isAllDark && isDriving(node);
    const taints = findTaintChange(node, { drives, time });
    if (taints !== undefined) this.#writeTaints(node, taints);
    const waits = isUnready(node) && !isDriving(node) && !this.#zones.isAllDark;
    if (waits) this.#queues.add(name, zoneOf(node));
    else this.#queues.remove(name);
  }

  #writeTaints(node: Node, taints: readonly Taint[]): void {
    const { name, resourceVersion } = node.metadata;
    if (this.#outdated.get(name) === resourceVersion) return;
    this.#send(name, name, async () => {
      try {
        await this.#parts.client(Node).patch(node, taintPatch(node, taints));
      } catch (error) {
        if (!isApiError(error, "Conflict") && !isApiError(error, "Invalid")) throw error;
        this.#outdated.set(name, resourceVersion);
      }
    });
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
          await this.#parts.client(Pod).patch(pod, patch, { subresource: "status" });
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
      this.#driveAway();
      this.#awaitQueues();
    });
  }

  #driveAway(): void {
    const { loop, cache } = this.#parts;
    for (const name of this.#queues.takeDue(this.#zones.zones, loop.elapsed())) {
      const node = cache(Node).find({ name });
      if (node === undefined || !isUnready(node)) continue;
      const taints = findTaintChange(node, { drives: true, time: timeText(loop.now()) });
      if (taints !== undefined) this.#writeTaints(node, taints);
    }
  }

  /**
   * After a write the node is looked at again if it has changed meanwhile, because that may ask for another one; if not, the write itself is still
   * to be heard of, which may take a while. After a failure somewhat later.
   */
  #send(subject: string, node: string, write: () => Promise<unknown>): void {
    const version = this.#versionOf(node);
    this.#writes.send(subject, async () => {
      try {
        await write();
      } catch (error) {
        if (isApiError(error, "NotFound") || this.#signal.aborted) return;
        if (!isApiError(error, "Conflict")) this.#parts.log.warn("not written", { node, subject, error });
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

/** Refused when the taints have changed meanwhile; other changes of the node do no harm. */
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

function timeText(ms: number): string {
  return formatTime(BigInt(Math.floor(ms)) * 1000n);
}
