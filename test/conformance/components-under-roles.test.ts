/** Parts of a control plane as separate clients, each with only the rights of its part: a Deployment becomes running pods. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect } from "../../src/client/connection.ts";
import type { Connection } from "../../src/client/connection.ts";
import { runCluster } from "../../src/cluster/cluster.ts";
import { runComponent } from "../../src/cluster/component.ts";
import type { ComponentOptions, ComponentSurroundings } from "../../src/cluster/component.ts";

const ELECTION = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
const POLL = { timeout: 20_000, interval: 100 };

class World implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "setpoint-parts-"));
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #loop = createRealLoop({ name: "parts-test" });

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const running = runCluster(
        {
          dataDir: this.#folder,
          store: { type: "memory" },
          listen: { host: "127.0.0.1", port: 0 },
          restoreFile: undefined,
          kubeconfigFile: undefined,
          pkiDir: join(this.#folder, "pki"),
          runtimeConfig: {},
          serviceCidrs: ["10.96.0.0/12"],
          nodePorts: { first: 30_000, last: 32_767 },
          podCidrs: ["10.128.0.0/9"],
          loops: "none",
          nodes: 0,
        },
        { ...this.#surroundings(), report: ({ event }) => event === "ready" && resolve() },
      );
      running.catch(reject);
      this.#running.push(running);
    });
  }

  run(file: string, part: PartChoice): void {
    const options = { ...part, kubeconfigFile: join(this.#folder, file), env: {}, election: ELECTION };
    this.#running.push(
      runComponent(options as ComponentOptions, { ...this.#surroundings(), report: () => undefined }),
    );
  }

  connect(): Promise<Connection> {
    return connect({ file: join(this.#folder, "kubeconfig"), loop: this.#loop });
  }

  #surroundings(): Omit<ComponentSurroundings, "report"> {
    return { loop: this.#loop, log: silentLog, signal: this.#ending.signal };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

type PartChoice =
  | { readonly part: "scheduler" }
  | { readonly part: "controllers"; readonly podCidrs: readonly string[]; readonly usesAccounts: boolean }
  | {
      readonly part: "agent";
      readonly nodes: number;
      readonly nodePrefix: string;
      readonly servesApi: boolean;
    };

describe("controllers with accounts of their own, a scheduler and an agent", () => {
  test("bring a Deployment up", async () => {
    await using world = new World();
    await world.start();
    world.run("controller-manager.conf", {
      part: "controllers",
      podCidrs: ["10.128.0.0/9"],
      usesAccounts: true,
    });
    world.run("scheduler.conf", { part: "scheduler" });
    world.run("kubeconfig", { part: "agent", nodes: 1, nodePrefix: "agent", servesApi: false });
    await using connection = await world.connect();
    const labels = { app: "web" };
    const place = { namespace: "default", name: "web" };

    await connection.client(Deployment).create({
      metadata: place,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "web:1" }] } },
      },
    });

    await expect
      .poll(async () => (await connection.client(Deployment).get(place)).status.availableReplicas, POLL)
      .toBe(2);
  });
});
