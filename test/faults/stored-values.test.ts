/** An unreadable stored value affects its own object only, under a running server and at its start, whatever the value and its resource. */
import { describe, expect, test } from "vitest";
import { encodeObject } from "../../src/api/protobuf/envelope.ts";
import { findKindSchema } from "../../src/api/schema/built-in-schema.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import { prefixEnd, type Store } from "../../src/store/store.ts";
import { text, type Reply, type ReplyBody } from "../api-harness.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";
import { openStore } from "./etcd/open-store.ts";
import { StoredValuesFixture } from "./stored-values-fixture.ts";
import {
  DAMAGES,
  emptyValue,
  invalidValue,
  INVALID_VALUES,
  storedPlaces,
  type StoredPlace,
} from "./stored-values.ts";

/** Without these no object can be created in a namespace, or no Service gets an address. */
const FOUNDATIONS = ["/registry/namespaces/default", "/registry/servicecidrs/kubernetes"];
const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";

const WIDGETS = { plural: "widgets", kind: "Widget", listKind: "WidgetList", singular: "widget" };
/** Stored form in clusters older than v1 of the group. */
const OLD_DEFINITION = {
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1beta1",
  metadata: { name: "widgets.example.com", uid: "1-2-3", creationTimestamp: "2019-01-01T00:00:00Z" },
  spec: {
    group: "example.com",
    version: "v1",
    names: WIDGETS,
    scope: "Cluster",
    additionalPrinterColumns: [{ name: "Size", type: "integer", JSONPath: ".spec.size" }],
  },
  status: {
    acceptedNames: WIDGETS,
    conditions: [
      { type: "Established", status: "True" },
      { type: "NamesAccepted", status: "True" },
    ],
    storedVersions: ["v1"],
  },
};

interface Opened extends AsyncDisposable {
  readonly store: Store;
}

async function openMemory(): Promise<Opened> {
  const store = openMemoryStore({ loop: createRealLoop({ name: "store" }) });
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

async function openEtcd(): Promise<Opened> {
  const server = await EtcdServer.start();
  const { store } = await openStore(server.endpoint, { requestTimeoutMs: 10_000 });
  const close = async (): Promise<void> => {
    await store.close();
    await server[Symbol.asyncDispose]();
  };
  return { store, [Symbol.asyncDispose]: close };
}

/** Writes one value of each damage under every resource. */
async function damageAll(store: Store, places: readonly StoredPlace[]): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const place of places) {
    const changes = Object.entries(DAMAGES).map(([, damage], at) => {
      const name = `bad-${String(at)}`;
      paths.set(place.prefix + name, `${place.path}/${name}`);
      return { type: "put", key: place.prefix + name, value: damage(place, name) } as const;
    });
    await store.write({ changes });
  }
  return paths;
}

function namesIn({ body }: Reply): readonly string[] {
  const items = (body["items"] ?? []) as readonly ReplyBody[];
  return items.map((item) => text(item["metadata"]?.["name"]));
}

/** An everyday operation of a user still works. */
async function expectService(world: StoredValuesFixture, suffix: string): Promise<void> {
  const created = await world.send("POST", MAPS, { metadata: { name: `map-${suffix}` }, data: { a: "1" } });
  const patched = await world.send("PATCH", `${MAPS}/map-${suffix}`, { data: { b: "2" } });
  const pod = { metadata: { name: `pod-${suffix}` }, spec: { containers: [{ name: "c", image: "i" }] } };
  const started = await world.send("POST", PODS, pod);
  const service = { metadata: { name: `svc-${suffix}` }, spec: { type: "NodePort", ports: [{ port: 80 }] } };
  const exposed = await world.send("POST", "/api/v1/namespaces/default/services", service);
  if (exposed.code !== 201) throw new Error(text(exposed.body["message"]));
  const listed = await world.send("GET", MAPS);
  const removed = await world.send("DELETE", `${MAPS}/map-${suffix}`);
  const codes = [created, patched, started, exposed, listed, removed].map(({ code }) => code);
  expect(codes).toEqual([201, 200, 201, 201, 200, 200]);
  expect(namesIn(listed)).toContain(`map-${suffix}`);
}

function describeEngine(open: () => Promise<Opened>): void {
  test("a value of any damage under any resource is refused by its key, and left out of lists", async () => {
    await using opened = await open();
    const places = storedPlaces();
    const paths = await damageAll(opened.store, places);

    await using world = await StoredValuesFixture.start(opened.store);

    const wrong: string[] = [];
    for (const [key, path] of paths) {
      const { code, body } = await world.send("GET", path);
      if (code !== 500 || !text(body["message"]).includes(JSON.stringify(key)))
        wrong.push(`${key}: ${String(code)} ${text(body["message"])}`);
    }
    expect(wrong).toEqual([]);
    for (const { path } of places) {
      const list = await world.send("GET", path);
      expect([path, list.code, namesIn(list).filter((name) => name.startsWith("bad-"))]).toEqual([
        path,
        200,
        [],
      ]);
    }
    const metrics = (await world.send("GET", "/metrics")).bytes.toString();
    expect(metrics).toContain(`setpoint_store_unreadable_values ${String(paths.size)}\n`);
    await expectService(world, "start");
  });

  test("a value of any damage that comes while the server runs harms nothing else, and goes when it is told to", async () => {
    await using opened = await open();
    await using world = await StoredValuesFixture.start(opened.store);
    const places = storedPlaces();

    const paths = [...(await damageAll(opened.store, places)).values()];
    await opened.store.fresh();

    for (const { path } of places) expect([path, (await world.send("GET", path)).code]).toEqual([path, 200]);
    await expectService(world, "running");
    const option = "ignoreStoreReadErrorWithClusterBreakingPotential=true";
    const codes = new Set<number>();
    for (const path of paths) codes.add((await world.send("DELETE", `${path}?${option}`)).code);
    expect([...codes]).toEqual([200]);
    const warnings = await Promise.all(
      places.map(async ({ path }) => (await world.send("GET", path)).headers.get("warning")),
    );
    expect(warnings.filter((warning) => warning?.includes("left out"))).toEqual([]);
  });

  test("the server starts again when its own objects are damaged, each in another way", async () => {
    await using opened = await open();
    await (await StoredValuesFixture.start(opened.store))[Symbol.asyncDispose]();
    const places = storedPlaces();
    const damages = Object.values(DAMAGES);
    const own = [...opened.store.view.range("/registry/", prefixEnd("/registry/"))].map(({ key }) => key);
    for (let round = 0; round < 2; round++) {
      for (const [at, key] of own.entries()) {
        const place = places.find(({ prefix }) => key.startsWith(prefix));
        if (FOUNDATIONS.includes(key) || place === undefined || at % 2 !== round) continue;
        const damage = damages[at % damages.length];
        const value = damage?.(place, key.slice(place.prefix.length)) ?? Buffer.alloc(0);
        await opened.store.write({ changes: [{ type: "put", key, value }] });
      }

      await using world = await StoredValuesFixture.start(opened.store);

      await expectService(world, `round-${String(round)}`);
    }
  });

  test("the server starts over objects that have nothing but a name", async () => {
    await using opened = await open();
    const places = storedPlaces();
    for (const place of places)
      await opened.store.write({
        changes: [{ type: "put", key: `${place.prefix}hollow`, value: emptyValue(place, "hollow") }],
      });

    await using world = await StoredValuesFixture.start(opened.store);

    for (const { path } of places) {
      const list = await world.send("GET", path);
      expect([path, list.code, namesIn(list).includes("hollow")]).toEqual([path, 200, true]);
    }
    await expectService(world, "hollow");
  });

  test("what a kube-apiserver stored is served, and is written as JSON from the next write on", async () => {
    await using opened = await open();
    await using world = await StoredValuesFixture.start(opened.store);
    const schema = findKindSchema("v1", "ConfigMap");
    if (schema === undefined) throw new Error("expected a schema");
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "theirs", namespace: "default", uid: "1-2-3" },
      data: { a: "1" },
    };
    const key = "/registry/configmaps/default/theirs";
    const definitionKey = "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com";
    await world.put(key, encodeObject(schema, map));
    await world.put(definitionKey, JSON.stringify(OLD_DEFINITION));
    await opened.store.fresh();

    const got = await world.send("GET", `${MAPS}/theirs`);
    const listed = await world.send("GET", MAPS);
    const patched = await world.send("PATCH", `${MAPS}/theirs`, { data: { b: "2" } });
    const widget = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { size: 3 },
    };
    const created = await world.send("POST", "/apis/example.com/v1/widgets", widget);

    expect([got.code, got.body["data"]]).toEqual([200, { a: "1" }]);
    expect(namesIn(listed)).toContain("theirs");
    expect([patched.code, patched.body["data"]]).toEqual([200, { a: "1", b: "2" }]);
    const { value } = (await opened.store.fresh()).get(key) ?? {};
    expect(JSON.parse(Buffer.from(value ?? []).toString())).toMatchObject({ data: { a: "1", b: "2" } });
    expect([created.code, created.body["spec"]]).toEqual([201, { size: 3 }]);
  });

  test("a kind whose definition cannot be served is refused by the key of its definition", async () => {
    await using opened = await open();
    await using world = await StoredValuesFixture.start(opened.store);
    const [, members] = INVALID_VALUES[0];
    const place = storedPlaces().find(({ kind }) => kind === "CustomResourceDefinition");
    if (place === undefined) throw new Error("expected definitions");
    const key = `${place.prefix}widgets.example.com`;
    await world.put(key, invalidValue(place, "widgets.example.com", members));
    await opened.store.fresh();

    const { code, body } = await world.send("GET", "/apis/example.com/v1/widgets");

    expect([code, text(body["message"]).includes(key)]).toEqual([500, true]);
  });

  test("the server starts over objects of the right form that make no sense", async () => {
    await using opened = await open();
    const places = storedPlaces();
    await using running = await StoredValuesFixture.start(opened.store);
    for (const [kind, spec] of INVALID_VALUES) {
      const place = places.find((each) => each.kind === kind);
      if (place === undefined) throw new Error(`there is no ${kind}`);
      const name = kind === "CustomResourceDefinition" ? "widgets.example.com" : "senseless";
      await opened.store.write({
        changes: [{ type: "put", key: place.prefix + name, value: invalidValue(place, name, spec) }],
      });
      await opened.store.fresh();
      expect([kind, (await running.send("GET", `${place.path}/${name}`)).code]).toEqual([kind, 200]);
      await running.send("GET", "/apis/example.com/v1/widgets");
      await expectService(running, `running-${String(INVALID_VALUES.findIndex((one) => one[1] === spec))}`);

      await using started = await StoredValuesFixture.start(opened.store);

      await started.send("GET", "/apis/example.com/v1/widgets");
      await started.send("GET", "/openapi/v2");
      await expectService(started, `started-${String(INVALID_VALUES.findIndex((one) => one[1] === spec))}`);
      await opened.store.write({ changes: [{ type: "delete", key: place.prefix + name }] });
    }
  });
}

describe("over a store in memory", { timeout: 60_000 }, () => {
  describeEngine(openMemory);
});

describePeer("etcd", "over etcd", () => {
  describeEngine(openEtcd);
});
