/** A running cluster with one node, whose kubelet is the tests' own, and pods on it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClusterOptions } from "../../src/cluster/options.ts";
import { certify } from "../../src/server/egress/certificate-fixture.ts";
import type { TestCertificate } from "../../src/server/egress/certificate-fixture.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";
import type { Answered } from "./running-cluster.ts";
import { TestKubelet } from "./test-kubelet.ts";
import type { TestKubeletOptions } from "./test-kubelet.ts";

const PODS = "/api/v1/namespaces/default/pods";

export class KubeletWorld implements AsyncDisposable {
  readonly folder: Folder;
  cluster: RunningCluster;
  readonly kubelet: TestKubelet;
  readonly authority: TestCertificate;

  private constructor(parts: Pick<KubeletWorld, "folder" | "cluster" | "kubelet" | "authority">) {
    this.folder = parts.folder;
    this.cluster = parts.cluster;
    this.kubelet = parts.kubelet;
    this.authority = parts.authority;
  }

  static async start(
    options: Partial<ClusterOptions> = {},
    kubeletOptions: Pick<TestKubeletOptions, "intercept"> = {},
  ): Promise<KubeletWorld> {
    const folder = new Folder();
    const cluster = await RunningCluster.start(folder, options);
    const authority = await certify({ commonName: "kubelet-ca", isAuthority: true });
    const clientCa = readFileSync(join(cluster.dataDir, "pki", "ca.crt"), "utf8");
    const own = await certify({ commonName: "n1", signer: authority, names: ["127.0.0.1"] });
    const kubelet = await TestKubelet.start({ ...own, clientCa, ...kubeletOptions });
    const world = new KubeletWorld({ folder, cluster, kubelet, authority });
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    await world.create("/api/v1/namespaces/default/serviceaccounts", account);
    await world.addNode("n1", kubelet.port);
    await world.addPod("web");
    return world;
  }

  async addNode(name: string, port: number, address = "127.0.0.1"): Promise<void> {
    await this.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
    await this.patch(`/api/v1/nodes/${name}/status`, {
      addresses: [{ type: "InternalIP", address }],
      capacity: { cpu: "2", memory: "2Gi", pods: "110" },
      allocatable: { cpu: "2", memory: "2Gi", pods: "110" },
      ...(port > 0 && { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    });
  }

  async addPod(name: string, nodeName = "n1"): Promise<void> {
    const spec = { nodeName, containers: [{ name: "main", image: "img" }] };
    await this.create(PODS, { apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
    const state = { running: { startedAt: "2026-01-02T03:04:05Z" } };
    const containerStatuses = [
      {
        name: "main",
        image: "img",
        imageID: "",
        ready: true,
        restartCount: 0,
        state,
        containerID: "test://1",
      },
    ];
    await this.patch(`${PODS}/${name}/status`, { phase: "Running", containerStatuses });
  }

  /** Restarts the server, so that it trusts this authority of kubelets, and asks it. */
  async askTrusting(ca: string, path: string): Promise<Answered> {
    const caFile = join(this.folder.path, "kubelet-ca.crt");
    writeFileSync(caFile, ca);
    await this.cluster.stop();
    const kubelet = { caFile, addressTypes: undefined, timeoutMs: undefined };
    this.cluster = await RunningCluster.start(this.folder, { kubelet });
    return this.cluster.ask("GET", path);
  }

  async create(path: string, body: unknown): Promise<void> {
    const { code, text } = await this.cluster.ask("POST", path, { body });
    if (code !== 201) throw new Error(`expected 201 for ${path}, found ${code}: ${text}`);
  }

  async patch(path: string, status: unknown): Promise<void> {
    const headers = { "content-type": "application/merge-patch+json" };
    const { code, text } = await this.cluster.ask("PATCH", path, { body: { status }, headers });
    if (code !== 200) throw new Error(`expected 200 for ${path}, found ${code}: ${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kubelet[Symbol.asyncDispose]();
    await this.cluster.stop();
    this.folder.remove();
  }
}
