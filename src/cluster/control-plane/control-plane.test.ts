import { describe, expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { makeTokenKeys } from "../../server/pki/token-keys.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { ControlPlane } from "./control-plane.ts";

const ADDRESS = { host: "127.0.0.1", port: 6443, machineAddresses: [] };
const PEER = { user: "kubernetes-admin", groups: ["system:masters"] };
const STEPS = [
  "poststarthook/start-apiextensions-informers",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/crd-informer-synced",
  "poststarthook/start-system-namespaces-controller",
  "poststarthook/start-service-ip-repair-controllers",
  "poststarthook/rbac/bootstrap-roles",
  "poststarthook/scheduling/bootstrap-system-priority-classes",
  "poststarthook/priority-and-fairness-config-producer",
  "poststarthook/bootstrap-controller",
  "poststarthook/start-kubernetes-service-cidr-controller",
  "poststarthook/start-kube-aggregator-informers",
  "poststarthook/apiservice-status-remote-available-controller",
  "poststarthook/apiservice-registration-controller",
  "poststarthook/apiservice-discovery-controller",
  "poststarthook/kube-apiserver-autoregistration",
  "autoregister-completion",
];

class World {
  readonly loop = new VirtualLoop({ seed: 1 });
  readonly store = openMemoryStore({ loop: this.loop.child("store") });
  readonly plane = new ControlPlane({
    surroundings: { loop: this.loop, log: silentLog, metrics: createMetrics(), store: this.store },
    server: { tokenKeys: makeTokenKeys },
    freezes: true,
  });
  readonly ending = new AbortController();

  async done<T>(outcome: T | Promise<T>): Promise<T> {
    const promise = Promise.resolve(outcome);
    return this.loop.finish(promise);
  }

  async ask(target: string): Promise<readonly [number, string]> {
    const { status, body } = await this.done(
      this.plane.handler({
        method: "GET",
        target,
        headers: new Map(),
        peer: PEER,
        signal: new AbortController().signal,
        readBody: () => Promise.resolve(new Uint8Array()),
      }),
    );
    return [status, body instanceof Uint8Array ? Buffer.from(body).toString() : ""];
  }

  /** Names of the failing and of the passing checks. */
  async checks(endpoint: string): Promise<{ good: readonly string[]; bad: readonly string[] }> {
    const [, text] = await this.ask(`${endpoint}?verbose`);
    const named = (mark: string): readonly string[] =>
      text.split("\n").flatMap((line) => (line.startsWith(mark) ? [line.slice(3).split(" ")[0] ?? ""] : []));
    return { good: named("[+]"), bad: named("[-]") };
  }
}

describe("the health of a control plane", () => {
  test("fails every start-up check until that step is done", async () => {
    const world = new World();

    expect(await world.checks("/livez")).toEqual({ good: ["ping", "etcd"], bad: STEPS });
    expect(await world.ask("/readyz/informer-sync")).toEqual([
      500,
      "internal server error: 2 informers not started yet: [*v1.CustomResourceDefinition *v1.APIService]\n",
    ]);
    expect(await world.ask("/healthz/poststarthook/rbac/bootstrap-roles")).toEqual([
      500,
      "internal server error: not finished\n",
    ]);
  });

  test("passes step by step, and fails for new clients during shutdown", async () => {
    const world = new World();
    await world.done(world.plane.settle(ADDRESS));
    const settled = await world.checks("/readyz");
    const running = world.plane.run(world.ending.signal);
    await world.loop.advance(1000);
    const ready = await world.checks("/readyz");
    world.ending.abort();

    expect(settled.bad).toEqual([
      "informer-sync",
      ...STEPS.slice(0, 3),
      "poststarthook/start-service-ip-repair-controllers",
      ...STEPS.slice(10, 14),
    ]);
    expect(ready).toEqual({
      good: ["ping", "etcd", "etcd-readiness", "informer-sync", ...STEPS, "shutdown"],
      bad: [],
    });
    expect(await world.ask("/readyz/shutdown")).toEqual([
      500,
      "internal server error: process is shutting down\n",
    ]);
    expect(await world.ask("/livez")).toEqual([200, "ok"]);
    await world.done(running);
  });

  test.each(["/livez/shutdown", "/healthz/etcd-readiness", "/readyz/nothing", "/readyz/"])(
    "has nothing at %s",
    async (path) => {
      const world = new World();

      expect((await world.ask(path))[0]).toBe(404);
    },
  );
});
