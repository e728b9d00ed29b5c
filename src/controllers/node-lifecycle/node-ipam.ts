/**
 * Allocates a block of pod addresses to every node for the node's lifetime.
 *
 * Reads Nodes; writes `spec.podCIDR` of those without one. A block in use by a node is never given to another.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node } from "../../api/generated/types/core-v1.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteLimiter } from "../../runtime/controller/write-limiter.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import { CidrBlocks } from "./cidr-blocks.ts";

const RETRY_MS = 5000;

export interface NodeIpamOptions {
  /** One range, or one per address family. */
  readonly podCidrs: readonly string[];
}

/** Prefix length of a node's block, as upstream's: IPv4 /24 has room for 254 pods. */
const NODE_PREFIX = { IPv4: 24, IPv6: 64 };

export function nodeIpamRoutine({ podCidrs }: NodeIpamOptions): Routine {
  return {
    name: "node-ipam-controller",
    reads: [Node],
    run: (parts, signal) => {
      const ranges = podCidrs.map(
        (range) => new CidrBlocks(range, range.includes(":") ? NODE_PREFIX.IPv6 : NODE_PREFIX.IPv4),
      );
      return new IpamRun(parts, signal, ranges).run();
    },
  };
}

class IpamRun {
  readonly #parts: RoutineParts;
  /** Errors after its abort are ignored. */
  readonly #signal: AbortSignal;
  readonly #ranges: readonly CidrBlocks[];
  /** Blocks by node name, from allocation on. */
  readonly #given = new Map<string, readonly string[]>();
  readonly #writes = new WriteLimiter<string>();
  /** False until the blocks of all existing nodes are kept: a block in use could be given away before. */
  #knowsAll = false;
  /** Retry timers by node name, one per node: each could start the next. */
  readonly #retries = new Map<string, Timer>();

  constructor(parts: RoutineParts, signal: AbortSignal, ranges: readonly CidrBlocks[]) {
    this.#parts = parts;
    this.#signal = signal;
    this.#ranges = ranges;
  }

  async run(): Promise<void> {
    const leave = this.#parts.subscribe(Node, (change) => this.#changed(change));
    await this.#visitAll((node) => this.#keep(node));
    this.#knowsAll = true;
    await this.#visitAll((node) => this.#allocate(node));
    await untilAborted(this.#signal);
    leave();
    for (const timer of this.#retries.values()) timer.cancel();
    await this.#writes.quiet();
  }

  async #visitAll(visit: (node: Node) => void): Promise<void> {
    const { cache, loop } = this.#parts;
    const visitUnlessAborted = (node: Node): void => {
      if (!this.#signal.aborted) visit(node);
    };
    await runInTurns(inSlices(cache(Node).walk(), visitUnlessAborted), loop, "loop");
  }

  #changed({ before, after }: ObjectChange<Node>): void {
    if (after === undefined) {
      if (before !== undefined) this.#free(before.metadata.name);
      return;
    }
    this.#keep(after);
    if (this.#knowsAll) this.#allocate(after);
  }

  #keep({ metadata, spec }: Node): void {
    const blocks = spec.podCIDRs ?? [];
    if (blocks.length === 0) return;
    const given = this.#given.get(metadata.name) ?? [];
    if (given.join() !== blocks.join()) this.#free(metadata.name);
    for (const range of this.#ranges) for (const block of blocks) range.keep(block);
    this.#given.set(metadata.name, blocks);
  }

  #free(name: string): void {
    for (const block of this.#given.get(name) ?? []) for (const range of this.#ranges) range.free(block);
    this.#given.delete(name);
  }

  #allocate(node: Node): void {
    const { name } = node.metadata;
    if (node.spec.podCIDR !== undefined || this.#given.has(name)) return;
    const blocks = this.#ranges.flatMap((range) => range.take() ?? []);
    this.#given.set(name, blocks);
    if (blocks.length < this.#ranges.length) {
      this.#free(name);
      const message = `Node ${name} status is now: CIDRNotAvailable`;
      this.#parts.event(node, { type: "Normal", reason: "CIDRNotAvailable", message });
      this.#retry(name);
      return;
    }
    this.#send(node, blocks);
  }

  /** Waits while a write for an earlier node of the same name is in flight. */
  #send(node: Node, blocks: readonly string[]): void {
    const { name } = node.metadata;
    if (!this.#writes.send(name, () => this.#write(node, blocks))) this.#retry(name);
  }

  async #write(node: Node, blocks: readonly string[]): Promise<void> {
    const { client, log } = this.#parts;
    const { name, uid } = node.metadata;
    const changes = { metadata: { uid }, spec: { podCIDR: blocks[0], podCIDRs: blocks } };
    try {
      const stated = { loop: "node-ipam", type: Node, object: node, note: "has no addresses for its pods" };
      await withCause(client, stated)(Node).patch(node, { type: "merge", changes });
    } catch (error) {
      if (this.#signal.aborted || isApiError(error, "NotFound")) return;
      // A conflict means that another node has the name by now.
      if (!isApiError(error, "Conflict"))
        log.warn("cannot write a node's pod addresses; retrying", { node: name, error });
      // The write may have succeeded nevertheless, so the blocks stay allocated to this name.
      this.#retry(name);
    }
  }

  #retry(name: string): void {
    if (this.#retries.has(name)) return;
    const { loop, cache } = this.#parts;
    const timer = loop.timer(loop.now() + RETRY_MS, "periodic", () => {
      this.#retries.delete(name);
      const node = cache(Node).find({ name });
      if (node === undefined || this.#signal.aborted) return;
      const given = this.#given.get(name);
      if (given === undefined) this.#allocate(node);
      else if (node.spec.podCIDR === undefined) this.#send(node, given);
    });
    this.#retries.set(name, timer);
  }
}
