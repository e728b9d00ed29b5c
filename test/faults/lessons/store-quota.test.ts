/**
 * A user who may write in one namespace cannot fill the heap of the server: at the quota the store refuses writes that add data, stays
 * healthy, and allows deletions.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import type { PeerIdentity } from "../../../src/server/request/http.ts";
import { openMemoryStore } from "../../../src/store/memory-store.ts";
import { TestApi, text } from "../../api-harness.ts";
import type { Reply } from "../../api-harness.ts";
import { Folder, RunningCluster } from "../../conformance/running-cluster.ts";
import { defineKind, made } from "./custom-kind.ts";

const QUOTA = 1_000_000;
const CORE = "/api/v1/namespaces/default";
const MAPS = `${CORE}/configmaps`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
/** As kubectl shows it over etcd. */
const NO_SPACE = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "etcdserver: mvcc: database space exceeded",
  code: 500,
};
const CUSTOM = { apiVersion: "example.com/v1", kind: "things" };
const TIMES = ["2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:10.000000Z"];
const WIDE = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`key-${String(n)}`, ""]));

const MALLORY: PeerIdentity = { user: "mallory", groups: [] };
const VICTIM: PeerIdentity = { user: "victim", groups: [] };
const NODE: PeerIdentity = { user: "system:node:n", groups: ["system:nodes"] };
const COLLECTOR: PeerIdentity = {
  user: "system:serviceaccount:kube-system:generic-garbage-collector",
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
};

interface Filler {
  readonly metadata?: object;
  readonly [field: string]: unknown;
}

class World implements AsyncDisposable {
  readonly #api: TestApi;

  private constructor(api: TestApi) {
    this.#api = api;
  }

  static async start(): Promise<World> {
    const loop = createRealLoop({ name: "test" });
    const store = openMemoryStore({ loop, quotaBytes: QUOTA });
    const api = await TestApi.start(["default", "kube-node-lease"], { loop, store });
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const metadata = { name: "writers" };
    const group = "rbac.authorization.k8s.io";
    await made(
      api.send("POST", `${rbac}/clusterroles`, {
        metadata,
        rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
      }),
    );
    await made(
      api.send("POST", `${rbac}/clusterrolebindings`, {
        metadata,
        roleRef: { apiGroup: group, kind: "ClusterRole", name: "writers" },
        subjects: [MALLORY, VICTIM, NODE, COLLECTOR].map(({ user: name }) => ({
          apiGroup: group,
          kind: "User",
          name,
        })),
      }),
    );
    await defineKind(api, { plural: "things" });
    return new World(api);
  }

  as(peer: PeerIdentity, method: string, target: string, body?: unknown): Promise<Reply> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    return this.#api.send(method, target, body, { as: peer, type });
  }

  /** Creates until the server refuses. */
  async fill(collection: string, { metadata = {}, ...rest }: Filler): Promise<Reply> {
    for (let n = 0; n < 5000; n++) {
      const body = { metadata: { ...metadata, name: `filler-${String(n)}` }, ...rest };
      const reply = await this.as(MALLORY, "POST", collection, body);
      if (reply.code !== 201) return reply;
    }
    throw new Error("the store is never full");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#api[Symbol.asyncDispose]();
  }
}

describe("a store that a user of one namespace fills", () => {
  test.each<[string, string, Filler]>([
    ["ConfigMaps", MAPS, { data: WIDE }],
    ["ConfigMaps of one byte", MAPS, { data: { a: "b" } }],
    ["Secrets", `${CORE}/secrets`, { stringData: { a: "x".repeat(20_000) } }],
    ["custom objects", "/apis/example.com/v1/namespaces/default/things", { ...CUSTOM, spec: WIDE }],
    ["Events", `${CORE}/events`, { involvedObject: { namespace: "default" }, message: "x".repeat(900) }],
    ["annotations", `${CORE}/serviceaccounts`, { metadata: { annotations: WIDE } }],
    ["leases", LEASES.replace("kube-node-lease", "default"), {}],
  ])("with %s refuses more, in etcd's words, and reads go on", async (_, collection, filler) => {
    await using world = await World.start();

    const refused = await world.fill(collection, filler);

    expect(refused.body).toEqual(NO_SPACE);
    expect((await world.as(VICTIM, "GET", MAPS)).code).toBe(200);
    expect((await world.as(VICTIM, "GET", collection)).code).toBe(200);
  });

  test("lets others delete what takes several writes to delete", async () => {
    await using world = await World.start();
    await made(
      world.as(VICTIM, "POST", MAPS, { metadata: { name: "held", finalizers: ["example.com/held"] } }),
    );
    await made(
      world.as(VICTIM, "POST", `${CORE}/pods`, {
        metadata: { name: "p" },
        spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
      }),
    );
    await made(world.as(VICTIM, "POST", MAPS, { metadata: { name: "owner" } }));
    await world.fill(MAPS, { data: WIDE });

    const held = await world.as(VICTIM, "DELETE", `${MAPS}/held`);
    const marked = await world.as(VICTIM, "DELETE", `${CORE}/pods/p`);
    const foreground = await world.as(VICTIM, "DELETE", `${MAPS}/owner`, { propagationPolicy: "Foreground" });
    const ended = await world.as(NODE, "PATCH", `${CORE}/pods/p/status`, {
      status: { phase: "Failed", message: "x".repeat(2000) },
    });
    const gone = await world.as(NODE, "DELETE", `${CORE}/pods/p`, { gracePeriodSeconds: 0 });
    const freed = await world.as(VICTIM, "PATCH", `${MAPS}/held`, { metadata: { finalizers: null } });
    const collected = await world.as(COLLECTOR, "PATCH", `${MAPS}/owner`, { metadata: { finalizers: null } });

    const codes = [held, marked, foreground, ended, gone, freed, collected].map(({ code }) => code);
    expect(codes).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(text(marked.body["metadata"]?.["deletionTimestamp"])).not.toBe("");
    for (const target of [`${MAPS}/held`, `${CORE}/pods/p`, `${MAPS}/owner`])
      expect((await world.as(VICTIM, "GET", target)).code).toBe(404);
  });

  test("lets nodes renew and make their leases and tell their status, and users add nothing", async () => {
    await using world = await World.start();
    const leaseOf = (name: string): object => ({ metadata: { name }, spec: { renewTime: TIMES[0] } });
    await made(world.as(NODE, "POST", "/api/v1/nodes", { metadata: { name: "n" } }));
    await made(world.as(NODE, "POST", LEASES, leaseOf("n")));
    await made(world.as(VICTIM, "POST", LEASES, leaseOf("victim")));
    await world.fill(MAPS, { data: WIDE });

    const renewals = await Promise.all([
      world.as(NODE, "PATCH", `${LEASES}/n`, { spec: { renewTime: TIMES[1], holderIdentity: "n" } }),
      world.as(VICTIM, "PATCH", `${LEASES}/victim`, { spec: { holderIdentity: "x".repeat(100) } }),
    ]);
    const status = await world.as(NODE, "PATCH", "/api/v1/nodes/n/status", {
      status: { conditions: [{ type: "Ready", status: "True", message: "x".repeat(500) }] },
    });
    const leases = await Promise.all([
      world.as(COLLECTOR, "POST", LEASES, leaseOf("controller")),
      world.as(VICTIM, "POST", LEASES, leaseOf("another")),
    ]);

    expect(renewals.map(({ code }) => code)).toEqual([200, 500]);
    expect(status.code).toBe(200);
    expect(leases.map(({ code }) => code)).toEqual([201, 500]);
  });

  test("takes writes again once the user has deleted", async () => {
    await using world = await World.start();
    await world.fill(MAPS, { data: WIDE });
    await made(world.as(VICTIM, "DELETE", MAPS));

    const reply = await world.as(VICTIM, "POST", MAPS, { metadata: { name: "a" }, data: WIDE });

    expect(reply.code).toBe(201);
  });
});

test("a server at its quota stays ready, raises an alarm and counts what it holds", async () => {
  const folder = new Folder();
  const tokenFile = join(folder.path, "tokens.csv");
  writeFileSync(tokenFile, 'a-token,a,1,"system:masters"');
  await using cluster = await RunningCluster.start(folder, {
    store: { type: "memory" },
    storeQuotaBytes: 8 << 20,
    authentication: { tokenFile },
  });
  const data = { a: "x".repeat(500_000) };
  let code = 201;
  for (let n = 0; n < 100 && code === 201; n++)
    ({ code } = await cluster.ask("POST", MAPS, { body: { metadata: { name: `m-${String(n)}` }, data } }));

  const [livez, readyz, verbose, alarm, metrics] = await Promise.all(
    ["/livez", "/readyz", "/readyz?verbose", "/readyz/store-space", "/metrics"].map((path) =>
      cluster.ask("GET", path),
    ),
  );
  folder.remove();

  expect(code).toBe(500);
  expect([livez?.code, readyz?.code]).toEqual([200, 200]);
  expect(verbose?.text).toContain("[!]store-space alarm: reason withheld\n");
  expect(alarm?.text).toMatch(
    /NOSPACE: writes that add data are refused until objects are deleted: \d+ of 8388608/,
  );
  expect(metrics?.text).toMatch(/^setpoint_store_full 1$/m);
  expect(metrics?.text).toMatch(/^setpoint_store_quota_bytes 8388608$/m);
  expect(metrics?.text).toMatch(/^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} \d{7}$/m);
});

test("a server starts over a full store, and puts in place what it needs", async () => {
  const folder = new Folder();
  const view = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view";
  const options = { store: { type: "file" }, storeQuotaBytes: 8 << 20 } as const;
  {
    await using cluster = await RunningCluster.start(folder, options);
    const data = { a: "x".repeat(500_000) };
    let code = 201;
    for (let n = 0; n < 100 && code === 201; n++)
      ({ code } = await cluster.ask("POST", MAPS, { body: { metadata: { name: `m-${String(n)}` }, data } }));
    await cluster.ask("DELETE", view);
  }

  await using cluster = await RunningCluster.start(folder, options);
  const late = { metadata: { name: "late" }, data: { a: "x".repeat(900_000) } };
  await expect.poll(async () => (await cluster.ask("GET", "/readyz")).code, { timeout: 20_000 }).toBe(200);
  const role = await cluster.ask("GET", view);
  const refused = await cluster.ask("POST", MAPS, { body: late });
  await cluster.stop();
  folder.remove();

  expect([role.code, refused.code]).toEqual([200, 500]);
});
