/** Makes and removes the sandboxes of pods: a holder with the pod's namespaces and network. */
import { rmSync } from "node:fs";
import type { SandboxSpec } from "../runtime-handler.ts";
import { hostnameCommand } from "./isolation.ts";
import type { ProcessHost } from "./process-host.ts";
import { ProcessPod, type PodRecord } from "./process-pod.ts";

const NAMESPACES = ["--net", "--uts", "--ipc"];
/** A pod on the host network has the machine's name too. */
const HOST_NETWORK_NAMESPACES = ["--ipc"];

/** Programs that are not root listen on ports below 1024 too, as in containers. Not every kernel has the file. */
const ALL_PORTS = "{ echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start || :; } 2>/dev/null";

export class SandboxMaker {
  readonly #host: ProcessHost;

  constructor(host: ProcessHost) {
    this.#host = host;
  }

  /** Rejects with a message for the user. */
  async make(spec: SandboxSpec): Promise<ProcessPod> {
    const host = this.#host;
    // Its root would be root of the machine.
    if (spec.pod.spec.hostUsers === false)
      throw new Error('hostUsers: false: RuntimeClass handler "process" does not support user namespaces');
    host.prepare();
    const addresses = host.takeAddresses(spec);
    if (addresses === undefined) throw new Error(`no free address in ${spec.podCidrs.join(", ")}`);
    const { uid } = spec.pod.metadata;
    const isOnHost = spec.pod.spec.hostNetwork === true;
    const own = isOnHost ? HOST_NETWORK_NAMESPACES : NAMESPACES;
    const record: PodRecord = {
      uid,
      addresses,
      namespaces: host.hasNamespaces ? own : [],
      hostname: spec.hostname,
      ports: [],
    };
    const pod = new ProcessPod(host.podFolder(uid), record);
    try {
      await this.startHolder(pod, spec);
      pod.save();
    } catch (error) {
      await this.#discard(pod);
      throw error;
    }
    return pod;
  }

  /**
   * A pod whose holder has ended gets a new one with the same addresses. The ways to the API server and to other networks
   * are opened beside it: the first pod waits for all.
   */
  async startHolder(pod: ProcessPod, spec: SandboxSpec): Promise<void> {
    const { holders, network } = this.#host;
    const { namespaces, addresses } = pod.record;
    const enter = await this.#enterNode(pod, spec);
    if (!pod.hasNetwork) {
      await holders.start(pod.folder, { enter, namespaces, script: undefined });
      return;
    }
    const connect = await network.connectScript(addresses, spec.podCidrs);
    const script = `${connect} &&\n${hostnameCommand(spec.hostname)} &&\n${ALL_PORTS}`;
    await Promise.all([holders.start(pod.folder, { enter, namespaces, script }), this.#host.openWays()]);
  }

  /** The namespaces of a normal user's pods are made in the user namespace of the node. */
  async #enterNode({ hasNamespaces }: ProcessPod, { podCidrs }: SandboxSpec): Promise<readonly string[]> {
    const host = this.#host;
    if (host.owner === "root" || !hasNamespaces) return [];
    const { pid } = await host.network.ensure(podCidrs);
    return host.enterWords(pid, []);
  }

  isAlive(pod: ProcessPod): boolean {
    return this.#host.holders.find(pod.folder) !== undefined;
  }

  /** Resolves when nothing of the pod runs and its files are gone. Logs stay. */
  async remove(pod: ProcessPod): Promise<void> {
    await Promise.all([...pod.runs.values()].map((run) => run.remove()));
    for (const container of pod.runs.keys()) this.#host.cgroup(pod.uid, container)?.remove();
    await this.#discard(pod);
  }

  async #discard(pod: ProcessPod): Promise<void> {
    await this.#host.holders.end(pod.folder);
    rmSync(pod.folder, { recursive: true, force: true });
    if (pod.hasNamespaces && !pod.hasNetwork) return;
    this.#host.addresses.free(pod.record.addresses);
  }
}
