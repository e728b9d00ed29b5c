/**
 * The way of pods to other networks: the machine forwards their packets under its own address. It exists only if the
 * user asks for it. A record keeps the machine's earlier setting, also for the next start after a kill.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { NetworkPart } from "./network-part.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { runCommand } from "./run-command.ts";
import { namesIn, readFile, writeWhole } from "./run-folder.ts";

const FORWARDING = "/proc/sys/net/ipv4/ip_forward";
/** Records of all clusters. They end with a restart of the machine, as the settings that they describe. */
const RECORDS = "/run/setpoint-egress";
/** Interfaces of all clusters. */
const ANY_CLUSTER = "sp-*";

export const EGRESS_FLAG = "--pod-egress";

export interface PodEgressOptions {
  readonly loop: Loop;
  /** The machine's interface in the pods' network; names the cluster's table and record. */
  readonly interfaceName: string;
  /** Words that bring a command into the network of the node. */
  readonly enter: (node: ProcessIdentity) => readonly string[];
}

export class PodEgress {
  readonly #options: PodEgressOptions;
  readonly #way: NetworkPart<void>;

  constructor(options: PodEgressOptions) {
    this.#options = options;
    this.#way = new NetworkPart({ open: (node) => this.#make(node), close: () => Promise.resolve() });
  }

  /** Rejects with the message of the system. No-op while it is open. */
  async open(node: ProcessIdentity): Promise<void> {
    await this.#way.open(node);
  }

  /** Leaves the machine as it was, also after a kill. No-op if nothing was changed. */
  async close(): Promise<void> {
    await this.#way.close();
    const earlier = readFile(this.#record);
    if (earlier === undefined) return;
    await this.#command(["nft", "-f", "-"], removal(this.#table));
    rmSync(this.#record);
    const [other] = findRecords();
    if (earlier !== "0") return;
    // Another cluster still needs it, and restores it later.
    if (other === undefined) writeFileSync(FORWARDING, "0");
    else writeWhole(join(RECORDS, other), "0");
  }

  get #table(): string {
    return this.#options.interfaceName.replace("sp-", "setpoint_");
  }

  get #record(): string {
    return join(RECORDS, this.#options.interfaceName);
  }

  async #make(node: ProcessIdentity): Promise<void> {
    const { interfaceName, enter } = this.#options;
    const shown = await this.#command(["ip", "-4", "-o", "addr", "show", "dev", interfaceName]);
    const [, block, address] = /\binet ((\S+)\/\d+)/.exec(shown) ?? [];
    if (block === undefined || address === undefined)
      throw new Error(`interface ${interfaceName} has no IPv4 address`);
    await this.#command([...enter(node), "sh", "-c", NODE_ROUTE, "sh", address]);
    mkdirSync(RECORDS, { recursive: true, mode: 0o700 });
    // The record comes first: a kill in between leaves nothing that is not known.
    if (readFile(this.#record) === undefined) writeWhole(this.#record, readForwarding());
    const wasOff = findRecords().some((name) => readFile(join(RECORDS, name)) === "0");
    await this.#command(["nft", "-f", "-"], rules({ table: this.#table, interfaceName, block, wasOff }));
    if (readForwarding() === "0") writeFileSync(FORWARDING, "1");
  }

  async #command(words: readonly string[], input = ""): Promise<string> {
    const { exitCode, stdout, stderr } = await runCommand(this.#options.loop, words, input);
    if (exitCode !== 0) throw new Error(`${words[0] ?? ""}: ${stderr.trim()}`);
    return stdout;
  }
}

/** Undefined if the machine has what is needed. */
export async function findEgressProblem(loop: Loop): Promise<string | undefined> {
  const { exitCode } = await runCommand(loop, ["nft", "--version"]);
  return exitCode === 0 ? undefined : `${EGRESS_FLAG} needs nft; install the package nftables`;
}

/** In the node's own namespace. */
const NODE_ROUTE = 'ip route replace default via "$1" dev pods && echo 1 >/proc/sys/net/ipv4/ip_forward';

interface RuleOptions {
  readonly table: string;
  readonly interfaceName: string;
  /** Addresses of the pods. */
  readonly block: string;
  /** Whether the machine forwarded nothing before: then it forwards only for pods. */
  readonly wasOff: boolean;
}

function rules({ table, interfaceName, block, wasOff }: RuleOptions): string {
  const lines = [
    removal(table),
    `table ip ${table} {`,
    "chain out {",
    "type nat hook postrouting priority 100; policy accept;",
    `ip saddr ${block} oifname != "${interfaceName}" masquerade`,
    "}",
    "chain through {",
    "type filter hook forward priority 0; policy accept;",
    "ct state established,related accept",
    // Other machines do not reach pods by this way.
    `oifname "${interfaceName}" drop`,
    ...(wasOff ? [`iifname != "${ANY_CLUSTER}" drop`] : []),
    "}",
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

/** Works also if there is no table. */
function removal(table: string): string {
  return `table ip ${table}\ndelete table ip ${table}\n`;
}

function findRecords(): readonly string[] {
  return namesIn(RECORDS).filter((name) => !name.endsWith(".new"));
}

function readForwarding(): string {
  return (readFile(FORWARDING) ?? "").trim();
}
