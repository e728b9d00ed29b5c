/**
 * Registers the Node objects of this process and keeps their leases and statuses up to date.
 *
 * One timer serves all nodes. Each second it renews the leases that are due, so that the renewals share a
 * commit. It writes a status when it differs from the desired one, and every five minutes.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Lease, type LeaseSpec } from "../../api/generated/types/coordination-v1.ts";
import { Node } from "../../api/generated/types/core-v1.ts";
import { microTimeText } from "../../api/values/time.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { wholeSecondWithin } from "../../base/loop/whole-second.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { SIMULATED } from "../../resources/pod/simulated-annotations.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteLimiter } from "../../runtime/controller/write-limiter.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import type { AgentNode } from "./agent-node.ts";
import { leaseRound } from "./lease-round.ts";
import type { LeaseRound } from "./lease-round.ts";
import { nodeRecovered, nodeStarted } from "./node-events.ts";
import {
  conditionsAt,
  findIdentityPatch,
  findMachinePatch,
  findAllocatablePatch,
  hasOwnConditions,
  machineStatus,
  nodeAnnotations,
  nodeLabels,
  nodeManifest,
  type MachineStatus,
} from "./node-manifest.ts";

const LEASES = "kube-node-lease";
/** The kubelet's value. */
const LEASE_SECONDS = 40;
/**
 * Upper bound of concurrent writes. V8 promotes objects that are in flight during a collection: with 100
 * renewals at once the old generation would gain half a megabyte of garbage each second.
 */
const WRITES_MAX = 32;
/** The kubelet's interval for writing an unchanged status. */
const REPORT_MS = 300_000;

/** Upper bound of the nodes for which start Events are sent: thousands of them would hide the Events of pods. */
const START_EVENTS_MAX = 500;

/** Annotation that makes a simulated node act as if its machine were off. */
const DOWN = `${SIMULATED}/down`;

export interface NodeStatusManagerParts {
  readonly routine: RoutineParts;
  /** Client with the identity of a node. */
  readonly clientOf: (node: string) => Client;
  readonly nodes: ReadonlyMap<string, AgentNode>;
  /** Aborted at shutdown: later write errors are expected and not logged. */
  readonly signal: AbortSignal;
  /** Called when a node becomes `up`, and when it becomes `down`. */
  readonly onUp: (node: AgentNode) => void;
  readonly onDown: (node: AgentNode) => void;
}

interface NodeEntry {
  readonly node: AgentNode;
  /** Computed on first use. */
  machine: MachineStatus | undefined;
  /** Slot of the round in which the node renews. */
  readonly slot: number;
  /** Uid of the Node object, which owns the lease. */
  uid: string;
  /** Last written version; undefined before, and after a conflict with another writer. */
  lease: Lease | undefined;
  /** Time of the last status write by this process. */
  reportedAt: number;
  /** The last Node object that had the desired status. */
  lastGood: Node | undefined;
}

export class NodeStatusManager {
  readonly #parts: NodeStatusManagerParts;
  readonly #entries = new Map<string, NodeEntry>();
  readonly #writes = new WriteLimiter<string>(WRITES_MAX);
  readonly #round: LeaseRound;
  #slot = 0;
  #timer: Timer | undefined;

  constructor(parts: NodeStatusManagerParts) {
    this.#parts = parts;
    this.#round = leaseRound(parts.nodes.size);
    let index = 0;
    for (const node of parts.nodes.values()) {
      this.#entries.set(node.name, {
        node,
        machine: undefined,
        slot: index++ % this.#round.slots,
        uid: "",
        lease: undefined,
        reportedAt: 0,
        lastGood: undefined,
      });
    }
  }

  /** Registers all nodes and starts the timer. Returns a function that ends the subscription. */
  follow(): () => void {
    const leave = this.#parts.routine.subscribe(Node, (change) => this.#changed(change));
    for (const entry of this.#entries.values()) this.#register(entry);
    this.#await();
    return leave;
  }

  /** Resolves when no write is in flight. The signal must be aborted before. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    await this.#writes.quiet();
  }

  #await(): void {
    const { loop } = this.#parts.routine;
    const at = wholeSecondWithin(loop.now(), this.#round.slotMs);
    this.#timer = loop.timer(at, "periodic", () => this.#next());
  }

  #next(): void {
    if (this.#parts.signal.aborted) return;
    this.#slot = (this.#slot + 1) % this.#round.slots;
    for (const entry of this.#entries.values()) {
      if (entry.slot !== this.#slot) continue;
      if (entry.node.state === "absent") this.#register(entry);
      if (entry.node.state !== "up") continue;
      this.#renew(entry);
      this.#report(entry);
    }
    this.#await();
  }

  #changed({ before, after }: ObjectChange<Node>): void {
    const entry = this.#entries.get((after ?? before)?.metadata.name ?? "");
    if (entry === undefined) return;
    const isReplaced =
      before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid;
    if (after === undefined) this.#become(entry.node, "gone");
    else if (entry.node.state !== "gone" || isReplaced || before === undefined) this.#seen(entry, after);
  }

  /** A Node object of this name exists. This process, an earlier one or a user created it. */
  #seen(entry: NodeEntry, object: Node): void {
    const { node } = entry;
    if (node.state === "absent") return;
    entry.uid = object.metadata.uid;
    this.#become(node, isDown(object) ? "down" : "up");
  }

  #become(node: AgentNode, state: AgentNode["state"]): void {
    const { state: before } = node;
    if (before === state) return;
    node.state = state;
    if (state === "down") this.#parts.onDown(node);
    if (state === "up") this.#parts.onUp(node);
  }

  #register(entry: NodeEntry): void {
    const { node } = entry;
    this.#send(`node ${node.name}`, async () => {
      const object = await this.#registered(entry);
      entry.reportedAt = this.#parts.routine.loop.now();
      entry.uid = object.metadata.uid;
      if (this.#parts.signal.aborted || node.state !== "absent") return;
      const state = isDown(object) ? "down" : "up";
      this.#become(node, state);
      if (state === "up") this.#renew(entry);
    });
  }

  async #registered(entry: NodeEntry): Promise<Node> {
    const { routine, clientOf } = this.#parts;
    const { setup } = entry.node;
    const { cache, loop } = routine;
    const object = { metadata: { name: setup.name } };
    const client = withCause(clientOf(setup.name), {
      loop: "kubelet",
      type: Node,
      object,
      note: "joins the cluster",
    });
    const known = cache(Node).find({ name: setup.name });
    if (known !== undefined) return this.#refreshed(known, entry);
    try {
      const made = await client(Node).create(nodeManifest(setup, loop.now()));
      this.#tell(made, nodeStarted(setup.name, undefined));
      return made;
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
      return this.#refreshed(await client(Node).get({ name: setup.name }), entry);
    }
  }

  /** Keeps fields of an existing Node that other clients have set. */
  async #refreshed(known: Node, entry: NodeEntry): Promise<Node> {
    if (isDown(known)) return known;
    const { setup } = entry.node;
    const { routine, clientOf } = this.#parts;
    const nodes = reporting(clientOf(setup.name), known);
    const labels = missingFrom(known.metadata.labels, nodeLabels(setup));
    const annotations = missingFrom(known.metadata.annotations, nodeAnnotations(setup));
    if (labels !== undefined || annotations !== undefined) {
      const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) };
      await nodes.patch(known, { type: "merge", changes: { metadata } });
    }
    const changed = findMachinePatch(known, this.#machineOf(entry));
    const status = { ...changed, conditions: conditionsAt(known, setup, routine.loop.now()) };
    const written = await nodes.patch(
      known,
      { type: "strategic", changes: { status } },
      { subresource: "status" },
    );
    this.#tell(written, nodeStarted(setup.name, known));
    return written;
  }

  #tell(object: Node, events: ReturnType<typeof nodeStarted>): void {
    if (this.#entries.size > START_EVENTS_MAX) return;
    const { name: host } = object.metadata;
    for (const words of events) this.#parts.routine.event(object, { ...words, host });
  }

  #report(entry: NodeEntry): void {
    const { routine, clientOf } = this.#parts;
    const now = routine.loop.now();
    const known = routine.cache(Node).find({ name: entry.node.name });
    const isDue = now - entry.reportedAt >= REPORT_MS;
    if (known === undefined || (known === entry.lastGood && !isDue)) return;
    const allocatable = findAllocatablePatch(known);
    const identity = findIdentityPatch(known, this.#machineOf(entry));
    const isGood =
      hasOwnConditions(known, entry.node.setup) && allocatable === undefined && identity === undefined;
    entry.lastGood = isGood ? known : undefined;
    if (isGood && !isDue) return;
    this.#send(`node ${entry.node.name}`, async () => {
      const conditions = conditionsAt(known, entry.node.setup, now);
      const offer = allocatable === undefined ? {} : { allocatable };
      const changes = { status: { ...identity, ...offer, conditions } };
      const nodes = reporting(clientOf(entry.node.name), known);
      await nodes.patch(known, { type: "strategic", changes }, { subresource: "status" });
      entry.reportedAt = now;
      this.#tell(known, nodeRecovered(entry.node.name, known));
    });
  }

  #machineOf(entry: NodeEntry): MachineStatus {
    entry.machine ??= machineStatus(entry.node.setup);
    return entry.machine;
  }

  #renew(entry: NodeEntry): void {
    this.#send(`lease ${entry.node.name}`, async () => {
      try {
        entry.lease = await this.#renewed(entry);
      } catch (error) {
        entry.lease = undefined;
        if (!isApiError(error, "Conflict")) throw error;
      }
    });
  }

  async #renewed({ node: { name }, uid, lease }: NodeEntry): Promise<Lease> {
    const { loop } = this.#parts.routine;
    const leases = this.#parts.clientOf(name)(Lease);
    const renewTime = microTimeText(loop.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
    const known = lease ?? (await leases.find({ namespace: LEASES, name }));
    if (known !== undefined) return leases.update(renewal(known, spec));
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
    return leases.create({ metadata: { name, namespace: LEASES, ownerReferences }, spec });
  }

  #send(subject: string, write: () => Promise<void>): void {
    if (this.#parts.signal.aborted) return;
    this.#writes.send(subject, async () => {
      try {
        await write();
      } catch (error) {
        // The next renewal retries the write.
        if (!this.#parts.signal.aborted)
          this.#parts.routine.log.warn("cannot write node; retrying with the next renewal", {
            subject,
            error,
          });
      }
    });
  }
}

/**
 * Omits managed fields: the server would parse and compare them with each renewal, a hundred times a second.
 */
function renewal(known: Lease, spec: LeaseSpec): Lease {
  const { managedFields: _, ...metadata } = known.metadata;
  return { ...known, metadata, spec: { ...known.spec, ...spec } };
}

/** Entries that differ; undefined when none does. */
function missingFrom(known: Entries | undefined, wanted: Entries): Entries | undefined {
  const missing = Object.entries(wanted).filter(([key, value]) => known?.[key] !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

type Entries = Readonly<Record<string, string>>;

function isDown({ metadata }: Node): boolean {
  return metadata.annotations?.[DOWN] === "true";
}

function reporting(client: Client, object: Node): ResourceClient<Node> {
  return withCause(client, { loop: "kubelet", type: Node, object, note: "reports its machine's state" })(
    Node,
  );
}
