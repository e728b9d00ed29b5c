/** The node that is this machine: its name, capacity, addresses and conditions. */
import { createHash } from "node:crypto";
import { readFileSync, statfsSync } from "node:fs";
import {
  arch,
  availableParallelism,
  hostname,
  networkInterfaces,
  platform,
  release,
  totalmem,
} from "node:os";
import { findCidr, type IpAddress } from "../../api/values/ip-address.ts";
import { NO_POD_NETWORK } from "../../resources/node/pod-network.ts";
import {
  PROCESS_ISOLATION,
  PROCESS_LIMITS,
  PROCESS_NODE,
  PROCESS_RUNTIME,
} from "../../resources/pod/process-runtime.ts";
import type { NodeSetup, OwnCondition, SystemInfo } from "../node/agent-node.ts";
import { blocksFrom, overlaps } from "./address-block.ts";
import { findCgroups, type Cgroups } from "./cgroup-hierarchies.ts";
import type { Isolation } from "./isolation.ts";
import { EGRESS_FLAG } from "./pod-egress.ts";
import { readFile } from "./run-folder.ts";

/** Shells, holders and programs of more pods than this are too many for one machine. */
const PODS = 250;
const BLOCK_PREFIX = 24;
/** Addresses of the virtual network where no controller assigns a block. */
const FALLBACK = "100.127.0.0/24";
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64" };

export interface MachineSetupOptions {
  readonly dataDir: string;
  readonly isolation: Isolation;
  /** Ranges of the cluster from which nodes get blocks. */
  readonly podCidrs: readonly string[];
  /** Whether pods reach other networks. */
  readonly egress: boolean;
}

export function machineSetup({ dataDir, isolation, podCidrs, egress }: MachineSetupOptions): NodeSetup {
  const name = machineName(hostname());
  return {
    name,
    addresses: machineAddresses(podCidrs.flatMap((range) => findCidr(range)?.address.family ?? [])),
    fallbackCidr: FALLBACK,
    podCidr: choosePodCidr(dataDir, podCidrs, routedBlocks()),
    capacity: {
      cpu: String(availableParallelism()),
      memory: `${String(Math.floor(totalmem() / 1024))}Ki`,
      "ephemeral-storage": `${String(diskKibibytes(dataDir))}Ki`,
      pods: String(PODS),
    },
    labels: { [PROCESS_NODE]: "true" },
    // Only root connects the machine to the pods' network. Without namespaces, the addresses are virtual.
    annotations: isolation.type === "namespaces" && isolation.owner === "root" ? {} : NO_POD_NETWORK,
    taints: [{ key: PROCESS_NODE, value: "true", effect: "NoSchedule" }],
    runtimeHandlers: [PROCESS_RUNTIME],
    conditions: [isolationCondition(isolation, egress), limitsCondition(findCgroups())],
    apiPort: 0,
    systemInfo: machineInfo,
  };
}

function machineInfo(name: string): SystemInfo {
  const id = firstLine("/etc/machine-id") ?? createHash("md5").update(name).digest("hex");
  return {
    architecture: ARCHITECTURES[arch()] ?? arch(),
    bootID: firstLine("/proc/sys/kernel/random/boot_id") ?? id,
    containerRuntimeVersion: `${PROCESS_RUNTIME}://1.0.0`,
    kernelVersion: release(),
    machineID: id,
    operatingSystem: platform(),
    osImage: osImage(),
    systemUUID: id,
  };
}

/** A valid name of a Node. */
export function machineName(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .replace(/^[^a-z0-9]+|(?<![^a-z0-9])[^a-z0-9]+$/g, "");
  return name === "" ? "machine" : name;
}

/**
 * A block of the cluster's range for this data dir, so that two clusters on one machine have different ones. It lies in
 * the upper half, which the blocks of other nodes reach last. Undefined leaves the choice to a controller.
 */
export function choosePodCidr(
  dataDir: string,
  ranges: readonly string[],
  taken: readonly string[],
): string | undefined {
  const [range, ...others] = ranges;
  const cidr = range === undefined ? undefined : findCidr(range);
  if (range === undefined || others.length > 0 || cidr?.address.family !== "IPv4") return undefined;
  if (cidr.prefixLength >= BLOCK_PREFIX - 1) return undefined;
  const half = 2 ** (BLOCK_PREFIX - cidr.prefixLength - 1);
  const key = createHash("sha256").update(dataDir).digest().readUInt32BE(0) % half;
  for (const block of blocksFrom(range, BLOCK_PREFIX, half + key))
    if (!taken.some((other) => overlaps(block, other))) return block;
  return undefined;
}

function isolationCondition(isolation: Isolation, egress: boolean): OwnCondition {
  if (isolation.type === "namespaces") {
    const message = "each pod has network, PID and mount namespaces of its own";
    const isRoot = isolation.owner === "root";
    return {
      type: PROCESS_ISOLATION,
      status: "True",
      reason: isRoot ? "NamespacesPermitted" : "UserNamespacesPermitted",
      message: isRoot
        ? `${message}; ${egress ? "they reach other networks" : `they reach no other networks: start with ${EGRESS_FLAG}`}`
        : `${message}; without root, this machine reaches the addresses of pods only by kubectl port-forward`,
    };
  }
  return {
    type: PROCESS_ISOLATION,
    status: "False",
    reason: "SharedNetwork",
    message: `pods share the network and the files of the machine: ${isolation.reason}`,
  };
}

function limitsCondition(cgroups: Cgroups | undefined): OwnCondition {
  if (cgroups !== undefined)
    return {
      type: PROCESS_LIMITS,
      status: "True",
      reason: "CgroupsWritable",
      message: `CPU and memory limits are enforced by cgroups of version ${String(cgroups.version)}`,
    };
  return {
    type: PROCESS_LIMITS,
    status: "False",
    reason: "NoWritableCgroup",
    message:
      "CPU and memory limits are not enforced: setpoint may not make cgroups with both; run it as root, " +
      "or as a systemd user service where cpu and memory are delegated",
  };
}

/** One address of each family; loopback addresses are refused for nodes. */
function machineAddresses(families: readonly IpAddress["family"][]): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const found = families.flatMap((family) => usable.find((each) => each.family === family)?.address ?? []);
  return found.length > 0 ? found : [UNREACHABLE];
}

/** A machine without a network: an address that is reserved for documentation. */
const UNREACHABLE = "192.0.2.1";

/** Blocks to which this machine has routes. */
function routedBlocks(): readonly string[] {
  if (platform() !== "linux") return [];
  const lines = readFileSync("/proc/net/route", "utf8").trim().split("\n").slice(1);
  return lines.flatMap((line) => {
    const [, destination = "", , , , , , mask = ""] = line.split("\t");
    const bits = bytesOf(mask).map((byte) => byte.toString(2).replaceAll("0", ""));
    const prefixLength = bits.join("").length;
    return prefixLength === 0 ? [] : [`${bytesOf(destination).join(".")}/${String(prefixLength)}`];
  });
}

/** Bytes of a little-endian hexadecimal number. */
function bytesOf(hex: string): readonly number[] {
  return [...Buffer.from(hex.padStart(8, "0"), "hex")].toReversed();
}

function diskKibibytes(folder: string): number {
  const { blocks, bsize } = statfsSync(folder);
  return Math.floor((blocks * bsize) / 1024);
}

function osImage(): string {
  const text = readFile("/etc/os-release") ?? "";
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(text)?.[1] ?? `${platform()} ${release()}`;
}

function firstLine(path: string): string | undefined {
  return readFile(path)?.split("\n")[0];
}
