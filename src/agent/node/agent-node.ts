/** One node of this process: what it is told to be, and what its pods take of it. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { AddressPool } from "./address-pool.ts";
import { Allotment } from "./allotment.ts";

export interface NodeSetup {
  readonly name: string;
  readonly address: string;
  /** Where pods get addresses from until the node is given a block of its own. */
  readonly fallbackCidr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
}

/**
 * `absent`: no Node object yet. `up`: it works. `down`: it is as if the machine were off. `gone`: its object was deleted; an agent makes it anew
 * only when it starts.
 */
export type NodeState = "absent" | "up" | "down" | "gone";

export class AgentNode {
  readonly setup: NodeSetup;
  readonly allotment = new Allotment();
  state: NodeState = "absent";
  #pool: { readonly cidr: string; readonly addresses: AddressPool } | undefined;

  constructor(setup: NodeSetup) {
    this.setup = setup;
  }

  get name(): string {
    return this.setup.name;
  }

  /** Of the block that the node has now. Undefined when all addresses are taken. */
  takeAddress(node: Node | undefined): string | undefined {
    return this.#addresses(node).take();
  }

  keepAddress(node: Node | undefined, address: string): void {
    this.#addresses(node).keep(address);
  }

  freeAddress(address: string): void {
    this.#pool?.addresses.free(address);
  }

  /** Blocks do not overlap, so that nothing is lost when one takes the place of another. */
  #addresses(node: Node | undefined): AddressPool {
    const cidr = node?.spec.podCIDR ?? this.setup.fallbackCidr;
    if (this.#pool?.cidr !== cidr) this.#pool = { cidr, addresses: new AddressPool(cidr) };
    return this.#pool.addresses;
  }
}
