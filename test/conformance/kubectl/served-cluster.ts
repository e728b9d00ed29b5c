/** A cluster in this process, served on loopback from memory for programs outside. */
import { join } from "node:path";
import { silentLog } from "../../../src/base/log/log.ts";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { runCluster } from "../../../src/cluster/cluster.ts";
import type { ClusterOptions } from "../../../src/cluster/options.ts";

/** Parts that run beside the server. */
export type Parts = Pick<ClusterOptions, "loops" | "nodes">;

export interface ServedCluster {
  readonly kubeconfig: string;
  readonly server: URL;
  readonly ending: AbortController;
  readonly running: Promise<void>;
}

export async function serveCluster(dataDir: string, parts: Parts): Promise<ServedCluster> {
  const ending = new AbortController();
  return await new Promise((resolve, reject) => {
    const running = runCluster(
      {
        dataDir,
        store: { type: "memory" },
        listen: { host: "127.0.0.1", port: 0 },
        restoreFile: undefined,
        kubeconfigFile: undefined,
        pkiDir: join(dataDir, "pki"),
        runtimeConfig: {},
        serviceCidrs: ["10.96.0.0/12"],
        nodePorts: { first: 30_000, last: 32_767 },
        podCidrs: ["10.128.0.0/9"],
        ...parts,
      },
      {
        loop: createRealLoop({ name: "served-cluster" }),
        log: silentLog,
        signal: ending.signal,
        report: (event) => {
          if (event.event === "ready")
            resolve({ kubeconfig: event.kubeconfig, server: new URL(event.server), ending, running });
        },
      },
    );
    running.catch(reject);
  });
}
