/**
 * Network of the pods of one node. A namespace of the node holds a bridge; each pod has a namespace of its own with a
 * cable to it, and so has the machine if setpoint runs as root. When the holder of a namespace ends, the kernel removes
 * its part.
 */
import { createHash } from "node:crypto";
import type { Loop } from "../../base/loop/loop.ts";
import { isIpv6, rolesIn, type BlockRoles } from "./address-block.ts";
import type { Holders } from "./holders.ts";
import { USER_NAMESPACE, type NamespaceOwner } from "./isolation.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { runCommand } from "./run-command.ts";
import { quoteWords } from "./shell-words.ts";

/** Name of the bridge in the node's namespace. */
const BRIDGE = "pods";
const NAME_DIGITS = 8;
/** The kernel's `IFNAMSIZ` leaves 15 characters. */
const CABLE_DIGITS = 11;

export interface PodNetworkOptions {
  readonly loop: Loop;
  readonly owner: NamespaceOwner;
  readonly holders: Holders;
  /** Folder of the node's holder; its path names the cluster. */
  readonly folder: string;
}

export class PodNetwork {
  readonly #options: PodNetworkOptions;
  /** Interface of the machine. */
  readonly interfaceName: string;
  #ready: Promise<ProcessIdentity> | undefined;

  constructor(options: PodNetworkOptions) {
    this.#options = options;
    this.interfaceName = `sp-${hashOf(options.folder).slice(0, NAME_DIGITS)}`;
  }

  /** Returns the commands that connect a pod, for its own namespace. */
  async connectScript(addresses: readonly string[], blocks: readonly string[]): Promise<string> {
    const node = await this.ensure(blocks);
    // A new name: the kernel removes the cable of an earlier sandbox a moment after its holder ended.
    const cable = `p${this.#options.loop.random("cables").uuid().replaceAll("-", "").slice(0, CABLE_DIGITS)}`;
    const lengths = blocks.map((block) => ({ ...rolesIn(block), isSix: isIpv6(rolesIn(block).gateway) }));
    const lines = addresses.flatMap((address) => {
      const roles = lengths.find(({ isSix }) => isSix === isIpv6(address));
      if (roles === undefined) return [];
      return [
        `addr add ${address}/${String(roles.prefixLength)} dev eth0${roles.isSix ? " nodad" : ""}`,
        `route add default via ${roles.gateway} dev eth0`,
      ];
    });
    const addLines = lines.filter((line) => line.startsWith("addr"));
    const routeLines = lines.filter((line) => line.startsWith("route"));
    const pid = String(node.pid);
    return [
      batch([
        `link add eth0 type veth peer name ${cable} netns ${pid}`,
        "link set lo up",
        ...addLines,
        "link set eth0 up",
        ...routeLines,
      ]),
      batch(
        [`link set ${cable} master ${BRIDGE}`, `link set ${cable} up`],
        `nsenter --net=/proc/${pid}/ns/net `,
      ),
    ].join(" &&\n");
  }

  /** The process in the node's namespace; undefined before the first pod. */
  findNode(): ProcessIdentity | undefined {
    return this.#options.holders.find(this.#options.folder);
  }

  /** Addresses that no pod may have. */
  machineAddresses(blocks: readonly string[]): readonly string[] {
    return blocks.map((block) => rolesIn(block).machine);
  }

  /** Pods lose their network. */
  async remove(): Promise<void> {
    this.#ready = undefined;
    await this.#options.holders.end(this.#options.folder);
  }

  /** Makes the node's network with the first pod. Resolves with its holder. */
  ensure(blocks: readonly string[]): Promise<ProcessIdentity> {
    this.#ready ??= this.#make(blocks).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready.then((node) => {
      if (this.#options.holders.isAlive(node)) return node;
      this.#ready = undefined;
      return this.ensure(blocks);
    });
  }

  async #make(blocks: readonly string[]): Promise<ProcessIdentity> {
    const { holders, folder, owner } = this.#options;
    const known = holders.find(folder);
    if (known !== undefined) return known;
    const roles = blocks.map(rolesIn);
    const bridge = [
      "link set lo up",
      `link add name ${BRIDGE} type bridge`,
      ...roles.map(({ gateway, prefixLength }) => addressLine(gateway, prefixLength, BRIDGE)),
      `link set ${BRIDGE} up`,
    ];
    // Only root may add an interface to the machine.
    if (owner === "user")
      return holders.start(folder, { namespaces: [...USER_NAMESPACE, "--net"], script: batch(bridge) });
    return this.#makeWithMachine(bridge, roles);
  }

  async #makeWithMachine(bridge: readonly string[], roles: readonly BlockRoles[]): Promise<ProcessIdentity> {
    const { holders, folder, loop } = this.#options;
    // An interface of an earlier holder goes with its namespace, a moment after the holder.
    await runCommand(loop, ["ip", "link", "delete", this.interfaceName]);
    const node = await holders.start(folder, {
      namespaces: ["--net"],
      script: batch([
        ...bridge,
        `link add host0 type veth peer name ${this.interfaceName} netns ${String(process.pid)}`,
        `link set host0 master ${BRIDGE}`,
        "link set host0 up",
      ]),
    });
    const lines = [
      ...roles.map(({ machine, prefixLength }) => addressLine(machine, prefixLength, this.interfaceName)),
      `link set ${this.interfaceName} up`,
    ];
    const { exitCode, stderr } = await runCommand(loop, ["ip", "-batch", "-"], `${lines.join("\n")}\n`);
    if (exitCode !== 0) throw new Error(`cannot connect the machine to the pods' network: ${stderr.trim()}`);
    return node;
  }
}

function addressLine(address: string, prefixLength: number, device: string): string {
  return `addr add ${address}/${String(prefixLength)} dev ${device}${isIpv6(address) ? " nodad" : ""}`;
}

/** One process for all lines; `words` come before its command. */
function batch(lines: readonly string[], words = ""): string {
  return `printf '%s\\n' ${quoteWords(lines)} | ${words}ip -batch -`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
