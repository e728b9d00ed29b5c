/** Parts that all pods of one process handler use. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { LogLimits } from "../logs/log-files.ts";
import { PodAddresses } from "../node/pod-addresses.ts";
import type { SandboxSpec } from "../runtime-handler.ts";
import { ApiGateway, type ApiAddress } from "./api-gateway.ts";
import { findCgroups, type Cgroups } from "./cgroup-hierarchies.ts";
import { Cgroup } from "./cgroups.ts";
import { DEFAULT_PATIENCE, Holders, type Patience } from "./holders.ts";
import { enterWords, type Isolation, type NamespaceOwner } from "./isolation.ts";
import { NetworkDialer } from "./network-dialer.ts";
import { PodEgress } from "./pod-egress.ts";
import { PodNetwork } from "./pod-network.ts";
import type { ProcessImage } from "./process-images.ts";
import { findProcess, listProcesses, signalGroup, type ProcessIdentity } from "./process-table.ts";
import { writeWhole } from "./run-folder.ts";
import { HOLDER, SHIM } from "./scripts.ts";

export interface ProcessHostOptions {
  readonly loop: Loop;
  readonly log: Log;
  /** Data dir of the cluster; hidden from pods that have a mount namespace. */
  readonly dataDir: string;
  readonly isolation: Isolation;
  readonly images: readonly ProcessImage[];
  /** Whether pods reach other networks, for which the machine is changed. Default: false. */
  readonly egress?: boolean | undefined;
  /** The API server, for pods. Default: pods cannot reach it. */
  readonly api?: ApiAddress | undefined;
  readonly patience?: Patience;
  readonly logLimits?: LogLimits;
}

const CLUSTER_DIGITS = 8;

export class ProcessHost {
  readonly options: ProcessHostOptions;
  readonly loop: Loop;
  readonly folder: string;
  readonly shim: string;
  readonly holders: Holders;
  readonly network: PodNetwork;
  readonly dialer: NetworkDialer;
  readonly addresses = new PodAddresses();
  readonly #gateway: ApiGateway | undefined;
  readonly #egress: PodEgress;
  readonly #cgroups: Cgroups | undefined;
  readonly #cgroupRoot: string;
  readonly #agentFile: string;
  #isReady = false;

  constructor(options: ProcessHostOptions) {
    this.options = options;
    this.loop = options.loop;
    this.folder = join(options.dataDir, "process");
    this.shim = join(this.folder, "scripts", "shim.sh");
    this.#agentFile = join(this.folder, "agent");
    this.holders = new Holders({
      loop: options.loop,
      script: join(this.folder, "scripts", "holder.sh"),
      agentFile: this.#agentFile,
      patience: options.patience ?? DEFAULT_PATIENCE,
    });
    this.network = new PodNetwork({
      loop: options.loop,
      owner: this.owner,
      holders: this.holders,
      folder: join(this.folder, "network"),
    });
    const enter = ({ pid }: ProcessIdentity): readonly string[] => this.enterWords(pid, ["--net"]);
    this.#gateway = options.api && new ApiGateway({ api: options.api, loop: options.loop, enter });
    this.dialer = new NetworkDialer(enter);
    this.#egress = new PodEgress({ loop: options.loop, interfaceName: this.network.interfaceName, enter });
    this.#cgroups = findCgroups();
    this.#cgroupRoot = `setpoint-${createHash("sha256").update(this.folder).digest("hex").slice(0, CLUSTER_DIGITS)}`;
  }

  get hasNamespaces(): boolean {
    return this.options.isolation.type === "namespaces";
  }

  get owner(): NamespaceOwner {
    const { isolation } = this.options;
    return isolation.type === "namespaces" ? isolation.owner : "root";
  }

  /** Words before a command that bring it into namespaces of a process of the pods. */
  enterWords(pid: number, namespaces: readonly string[]): readonly string[] {
    return enterWords(this.owner, pid, namespaces);
  }

  /** Writes the scripts, before the first pod. */
  prepare(): void {
    if (this.#isReady) return;
    mkdirSync(join(this.folder, "scripts"), { recursive: true, mode: 0o700 });
    mkdirSync(join(this.folder, "pods"), { recursive: true, mode: 0o700 });
    writeWhole(this.shim, SHIM);
    writeWhole(join(this.folder, "scripts", "holder.sh"), HOLDER);
    this.claim();
    this.#isReady = true;
  }

  /** Says that this process looks after the pods. */
  claim(): void {
    const start = findProcess(process.pid)?.start ?? "";
    writeWhole(this.#agentFile, `${String(process.pid)} ${start}\n`);
  }

  /** Pods run on without an agent, for as long as they like. */
  leaveRunning(): void {
    if (this.#isReady) writeWhole(this.#agentFile, "keep\n");
  }

  /** Makes what pods may reach outside of their network reachable. Pods run without it too. */
  async openWays(): Promise<void> {
    const node = this.network.findNode();
    if (node === undefined) return;
    await Promise.all([
      this.#try("pods cannot reach the API server", this.#gateway?.open(node)),
      this.#try(
        "pods cannot reach other networks",
        this.options.egress === true ? this.#egress.open(node) : undefined,
      ),
    ]);
  }

  /** The machine is as it was before the pods, also before those of a cluster that was killed. */
  async closeEgress(): Promise<void> {
    await this.#try("cannot undo the way of pods to other networks", this.#egress.close());
  }

  /** Nothing of this process is in the network of the pods any more. */
  async leaveNetwork(): Promise<void> {
    await Promise.all([this.#gateway?.close(), this.dialer.close()]);
  }

  cgroup(uid: string, container: string): Cgroup | undefined {
    if (this.#cgroups === undefined) return undefined;
    return new Cgroup(this.#cgroups, `${this.#cgroupRoot}/${uid}/${container}`);
  }

  /** A pod on the host network has the addresses of the node; undefined when a block is exhausted. */
  takeAddresses({ pod, hostAddresses, podCidrs, addresses }: SandboxSpec): readonly string[] | undefined {
    if (pod.spec.hostNetwork === true) return hostAddresses;
    this.#keepMachine(podCidrs);
    if (addresses.length === 0) return this.addresses.take(podCidrs);
    this.addresses.keep(podCidrs, addresses);
    return addresses;
  }

  podFolder(uid: string): string {
    return join(this.folder, "pods", uid);
  }

  /** Kills processes of this data dir that no file describes any more, for example after the dir was deleted. */
  killLeftovers(): void {
    for (const row of listProcesses()) {
      const isOurs = row.arguments.includes(`${this.folder}/scripts/`) || row.arguments.includes("/start.sh");
      const words = row.arguments.split(" ").filter((word) => word.startsWith(`${this.folder}/`));
      const folder = words.map((word) => this.#ownerOf(word)).find((owner) => owner !== undefined);
      if (isOurs && folder !== undefined && !existsSync(folder)) signalGroup(row.group, "SIGKILL");
    }
  }

  async #try(failure: string, work: Promise<void> | undefined): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.options.log.warn(failure, { error });
    }
  }

  /** File that exists as long as the processes of the folder belong to a known pod or network. */
  #ownerOf(path: string): string | undefined {
    const [kind, uid = ""] = path.slice(this.folder.length + 1).split("/");
    if (kind === "pods") return join(this.podFolder(uid), "pod.json");
    return kind === "network" ? join(this.folder, "network", "holder") : undefined;
  }

  #keepMachine(podCidrs: readonly string[]): void {
    if (this.hasNamespaces) this.addresses.keep(podCidrs, this.network.machineAddresses(podCidrs));
  }
}
