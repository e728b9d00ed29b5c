/** `causes.setpoint.dev`: who changed which field, in which pass, and what woke it. */
import { describe, expect, test } from "vitest";
import type { Change, ChangeList } from "../../src/api/causes/change.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { TestApi, text } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

const CAUSES = "/apis/causes.setpoint.dev/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";

function changesOf(kind: string, name: string, more = "", namespace = "default"): string {
  const selector = `object.kind=${kind},object.name=${name}${more}`;
  return `${CAUSES}/namespaces/${namespace}/changes?fieldSelector=${encodeURIComponent(selector)}`;
}

function listIn(reply: Reply): ChangeList {
  expect(reply.code).toBe(200);
  return JSON.parse(reply.bytes.toString()) as ChangeList;
}

function map(value: string, finalizers: readonly string[] = []) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", finalizers }, data: { value } };
}

describe("the changes of an object", () => {
  test("have the fields, the author, the command and the time", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, map("1"));
    const headers = {
      "user-agent": "kubectl/v1.36",
      "kubectl-command": "kubectl edit",
      "audit-id": "audit-1",
    };
    await api.send("PUT", `${MAPS}/a`, map("2"), { headers });
    await api.send("DELETE", `${MAPS}/a`);

    const { items, cut } = listIn(await api.send("GET", changesOf("ConfigMap", "a")));

    expect(cut).toBeUndefined();
    expect(items.map(({ operation, fields }) => [operation, fields])).toEqual([
      ["Created", expect.arrayContaining([{ path: "data", after: { value: "1" } }])],
      ["Updated", [{ path: "data.value", before: "1", after: "2" }]],
      ["Deleted", expect.arrayContaining([{ path: "data", before: { value: "2" } }])],
    ]);
    expect(items[1]).toMatchObject({
      object: { kind: "ConfigMap", resource: "configmaps", namespace: "default", name: "a" },
      author: {
        user: "admin",
        manager: "kubectl",
        userAgent: "kubectl/v1.36",
        command: "kubectl edit",
        auditId: "audit-1",
      },
    });
    expect(items[1]?.time).toMatch(/^\d{4}-.*Z$/);
  });

  test("never have the values of a Secret", async () => {
    await using api = await TestApi.start();
    const secrets = "/api/v1/namespaces/default/secrets";
    const secret = (value: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", annotations: { copy: value } },
      stringData: { password: value },
    });
    await api.send("POST", secrets, secret("hunter2"));
    await api.send("PUT", `${secrets}/s`, secret("hunter3"));

    const reply = await api.send("GET", changesOf("Secret", "s"));
    const all = await api.send("GET", `${CAUSES}/changes`);

    expect(listIn(reply).items[1]?.fields).toEqual([
      { path: "metadata.annotations.copy", withheld: "Secret" },
      { path: "data.password", withheld: "Secret" },
    ]);
    for (const text of [reply.bytes.toString(), all.bytes.toString()]) {
      for (const value of ["hunter", Buffer.from("hunter2").toString("base64").slice(0, 8)])
        expect(text).not.toContain(value);
    }
  });

  test("begin where the history begins, and say so", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, map("1"));
    const { body } = await api.send("PUT", `${MAPS}/a`, map("2"));
    await api.send("PUT", `${MAPS}/a`, map("3"));
    await api.store.compact(Number(body["metadata"]?.["resourceVersion"]));

    const { items, cut } = listIn(await api.send("GET", changesOf("ConfigMap", "a")));

    expect(items.map(({ fields }) => fields?.map(({ path }) => path))).toEqual([
      undefined,
      undefined,
      ["data.value"],
    ]);
    expect(items.every(({ author }) => author?.user === "admin")).toBe(true);
    expect(cut).toBe("the history no longer reaches further back");
  });

  test("are those of all objects of that name, also after a deletion", async () => {
    await using api = await TestApi.start();
    for (const value of ["1", "2"]) {
      await api.send("POST", MAPS, map(value));
      await api.send("DELETE", `${MAPS}/a`);
    }

    const { items } = listIn(await api.send("GET", changesOf("ConfigMap", "a")));

    expect(items.map(({ operation }) => operation)).toEqual(["Created", "Deleted", "Created", "Deleted"]);
    const [first] = items;
    const one = await api.send("GET", changesOf("ConfigMap", "a", `,revision=${first?.revision ?? ""}`));
    expect(listIn(one).items).toEqual([first]);
    expect(listIn(await api.send("GET", changesOf("ConfigMap", "never"))).items).toEqual([]);
  });

  test("name the newest manager where several entries changed", async () => {
    await using first = await TestApi.start();
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const labels = { a: "b" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await first.send("POST", `${deployments}?fieldManager=maker`, { metadata: { name: "d" }, spec });
    await first.send(
      "PATCH",
      `${deployments}/d/scale?fieldManager=scaler`,
      { spec: { replicas: 2 } },
      { type: "application/merge-patch+json" },
    );

    await using second = await TestApi.start([], { store: first.store });
    const selector = encodeURIComponent("object.group=apps,object.kind=Deployment,object.name=d");
    const path = `${CAUSES}/namespaces/default/changes?fieldSelector=${selector}`;
    const { items } = listIn(await second.send("GET", path));

    expect(items.map(({ author }) => author)).toEqual([{ manager: "maker" }, { manager: "scaler" }]);
  });

  test("name the manager alone where the server does not remember the request", async () => {
    await using first = await TestApi.start();
    await first.send("POST", `${MAPS}?fieldManager=me`, map("1"));

    await using second = await TestApi.start([], { store: first.store });
    const { items, authorsSince } = listIn(await second.send("GET", changesOf("ConfigMap", "a")));

    expect(items).toMatchObject([{ operation: "Created", author: { manager: "me" } }]);
    expect(items[0]?.author).not.toHaveProperty("user");
    expect(Number(authorsSince)).toBeGreaterThanOrEqual(Number(items[0]?.revision));
  });

  test.each([
    ["a kind that does not exist", changesOf("Nothing", "a"), 'no stored kind is named "Nothing"'],
    ["a kind without namespaces", changesOf("Node", "a"), "a Node has no namespace"],
    ["an unknown field", `${CAUSES}/changes?fieldSelector=x%3D1`, "field label not supported: x"],
  ])("are refused for %s", async (_, path, message) => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("GET", path);

    expect([code, body["message"]]).toEqual([400, expect.stringContaining(message)]);
  });

  test("have at most eight reasons, however many the client states", async () => {
    await using api = await TestApi.start();
    const reasons = Array.from({ length: 100 }, (_, index) => `by=Pod/a/${String(index)}@1`);
    const headers = { "setpoint-cause": `c/1 ${reasons.join(" ")}` };
    await api.send("POST", MAPS, map("1"), { headers });

    const { items } = listIn(await api.send("GET", changesOf("ConfigMap", "a")));

    expect(items[0]?.pass).toMatchObject({ reasonCount: 100 });
    expect(items[0]?.pass?.reasons).toHaveLength(8);
  });

  test("cannot be written or watched", async () => {
    await using api = await TestApi.start();

    const refused = [
      await api.send("POST", `${CAUSES}/namespaces/default/changes`, { kind: "Change" }),
      await api.send("GET", `${CAUSES}/changes?watch=true`),
      await api.send("GET", `${CAUSES}/namespaces/default/changes/a.1`),
    ];

    expect(refused.map(({ code }) => code)).toEqual([405, 405, 405]);
  });
});

describe("the revision at a time", () => {
  test("is the newest one then; a wrong name and a time before the journal are refused", async () => {
    await using api = await TestApi.start();
    const { body } = await api.send("POST", MAPS, map("1"));
    const get = async (name: string) => await api.send("GET", `${CAUSES}/revisions/${name}`);

    const now = await get(new Date(Date.now() + 60_000).toISOString());

    expect(now.body).toMatchObject({ kind: "Revision", revision: body["metadata"]?.["resourceVersion"] });
    expect((await get("2000-01-01T00:00:00Z")).code).toBe(410);
    expect((await get("yesterday")).code).toBe(400);
  });
});

describe("the changes of everything", () => {
  test("come page by page, oldest first", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, map("0"));
    for (let value = 1; value < 10; value++) await api.send("PUT", `${MAPS}/a`, map(String(value)));

    const values: unknown[] = [];
    let token: string | undefined = "";
    for (; token !== undefined;) {
      const path = `${CAUSES}/namespaces/default/changes?limit=3&continue=${token}`;
      const list: ChangeList = listIn(await api.send("GET", path));
      expect(list.items.length).toBeLessThanOrEqual(3);
      for (const { fields = [] } of list.items) values.push(fields.at(-1)?.after);
      token = list.metadata.continue;
    }

    expect(values.slice(1)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  });
});

describe("the size of a response", () => {
  /** A ConfigMap whose change has some 120 KiB. */
  const large = (letter: string) => {
    const keys = Array.from({ length: 60 }, (_, index) => [`k${String(index)}`, letter.repeat(1000)]);
    return { metadata: { name: "a" }, data: Object.fromEntries(keys) as object };
  };
  const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
  const PAGE_BYTES_MAX = 5 * 1024 * 1024;

  test("is bounded, and no change is lost between pages", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, large("0"));
    for (const letter of LETTERS) await api.send("PUT", `${MAPS}/a`, large(letter));

    const one = await api.send("GET", changesOf("ConfigMap", "a"));
    const pages: Reply[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const page = await api.send("GET", `${CAUSES}/namespaces/default/changes?continue=${token}`);
      pages.push(page);
      token = listIn(page).metadata.continue;
    }

    for (const { bytes } of [one, ...pages]) expect(bytes.length).toBeLessThan(PAGE_BYTES_MAX);
    expect(listIn(one).cut).toBe("older changes are beyond the limit");
    expect(listIn(one).items.at(-1)?.fields?.[0]?.after).toBe("Z".repeat(1000));
    const after = pages.flatMap((page) => listIn(page).items).map(({ fields }) => fields?.[0]?.after);
    expect(after.slice(-LETTERS.length)).toEqual(LETTERS.map((letter) => letter.repeat(1000)));
  });
});

describe("the changes of everything that a selector", () => {
  test.each([
    ["names by kind", "fieldSelector=object.kind%3DSecret", ["s"]],
    ["excludes by name", "fieldSelector=object.name!%3Da,object.kind!%3DServiceAccount", ["s"]],
    ["names by revision", "fieldSelector=revision%3DREVISION", ["s"]],
    ["names by a label, which no change has", "labelSelector=a", []],
  ])("%s are those alone", async (_, query, names) => {
    await using api = await TestApi.start();
    const created = await api.send("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
    await api.send("POST", MAPS, map("1"));
    const revision = text(created.body["metadata"]?.["resourceVersion"]);

    const path = `${CAUSES}/namespaces/default/changes?${query.replace("REVISION", revision)}`;
    const { items } = listIn(await api.send("GET", path));

    expect(items.map(({ object }) => object.name)).toEqual(names);
  });
});

describe("the permission to see changes", () => {
  const ANN = { as: { user: "ann", groups: [] } };
  const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const RBAC_GROUP = "rbac.authorization.k8s.io";
  const CHANGES = { apiGroups: ["causes.setpoint.dev"], resources: ["changes"], verbs: ["list"] };
  const CONFIG_MAPS = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };

  async function startWithRules(...rules: readonly object[]): Promise<TestApi> {
    const api = await TestApi.start();
    const metadata = { name: "ann" };
    await api.send("POST", `${RBAC}/roles`, {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "Role",
      metadata,
      rules,
    });
    await api.send("POST", `${RBAC}/rolebindings`, {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name: "ann" },
      subjects: [{ kind: "User", apiGroup: RBAC_GROUP, name: "ann" }],
    });
    const cause = "c/1 of=Secret/default/owner note=password%20is%20long by=Secret/default/owner@7 by=timer";
    await api.send("POST", `/api/v1/namespaces/default/secrets`, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "owner" },
    });
    const headers = { "setpoint-cause": cause };
    await api.send("POST", `/api/v1/namespaces/default/secrets`, { metadata: { name: "made" } }, { headers });
    await api.send("POST", MAPS, map("1"), { headers });
    return api;
  }

  test("is needed beside the permission to read the object", async () => {
    await using mayRead = await startWithRules(CONFIG_MAPS);
    await using mayList = await startWithRules(CHANGES);

    const codes = [mayRead, mayList].map(
      async (api) => (await api.send("GET", changesOf("ConfigMap", "a"), undefined, ANN)).code,
    );

    expect(await Promise.all(codes)).toEqual([403, 403]);
  });

  test("hides the objects that the user may not read", async () => {
    await using api = await startWithRules(CHANGES, CONFIG_MAPS);

    const one = await api.send("GET", changesOf("ConfigMap", "a"), undefined, ANN);
    const all = await api.send("GET", `${CAUSES}/namespaces/default/changes`, undefined, ANN);

    const hidden = { hidden: true };
    expect(listIn(one).items[0]?.pass).toEqual({
      id: "c/1",
      subject: hidden,
      reasons: [{ type: "Object", object: hidden }, { type: "Timer" }],
      reasonCount: 2,
      otherWrites: [{ revision: expect.any(String) as unknown, object: hidden }],
      otherWriteCount: 1,
    });
    expect(listIn(all).items.map(({ object }) => object.name)).toEqual(["a"]);
    for (const { bytes } of [one, all]) expect(bytes.toString()).not.toMatch(/owner|made|password/);
  });

  test("shows them to a user who may read them", async () => {
    await using api = await startWithRules(CHANGES, { ...CONFIG_MAPS, resources: ["configmaps", "secrets"] });

    const { items } = listIn(await api.send("GET", changesOf("ConfigMap", "a"), undefined, ANN));

    expect(items[0]?.pass).toMatchObject({
      subject: { kind: "Secret", name: "owner" },
      note: "password is long",
      otherWrites: [{ object: { name: "made" } }],
    });
  });
});

describe("the pass that made a change", () => {
  test("leads from a pod over its ReplicaSet to the Deployment", async () => {
    await using cluster = await startDeployment();
    const [pod] = cluster.objects(Pod);

    const [created] = await read(cluster, "Pod", pod?.metadata.name ?? "");
    expect(created).toMatchObject({
      operation: "Created",
      pass: { subject: { kind: "ReplicaSet", group: "apps" }, reasons: [{ type: "Object" }] },
    });
    expect(created?.pass?.otherWrites.length).toBeGreaterThan(0);
    const reason = created?.pass?.reasons[0];
    const set = reason?.object !== undefined && "name" in reason.object ? reason.object.name : "";
    const [setCreated] = await read(cluster, "ReplicaSet.apps", set, reason?.resourceVersion);
    expect(setCreated).toMatchObject({
      operation: "Created",
      pass: { subject: { kind: "Deployment", name: "web" }, reasons: [{ object: { kind: "Deployment" } }] },
    });
  });

  test("has the reason that a controller of a program states", async () => {
    const stamps = defineController<ConfigMap>({
      name: "stamps",
      for: ConfigMap,
      async reconcile(map, { client, because }) {
        if (map.data?.["stamp"] !== undefined) return;
        because("the stamp is missing");
        await client(ConfigMap).patch(map, { type: "merge", changes: { data: { stamp: "1" } } });
      },
    });
    await using cluster = await startCluster({ clock: "virtual", loops: "none", controllers: [stamps] });
    await cluster.client(ConfigMap).create({ metadata: { name: "letter" } });
    await cluster.settle();

    const changes = await read(cluster, "ConfigMap", "letter");

    expect(changes.at(-1)?.pass).toMatchObject({
      subject: { kind: "ConfigMap", name: "letter" },
      note: "the stamp is missing",
      reasons: [{ type: "Object", object: { name: "letter" }, resourceVersion: changes[0]?.revision }],
    });
  });

  test("says that a deletion woke it", async () => {
    await using cluster = await startDeployment();
    const name = cluster.objects(Pod)[0]?.metadata.name ?? "";
    await cluster.client(Pod).delete({ namespace: "default", name });
    await cluster.settle();
    const names = cluster.objects(Pod).map(({ metadata }) => metadata.name);
    const changes = await Promise.all(names.map(async (each) => await read(cluster, "Pod", each)));

    const woken = changes
      .flatMap(([created]) => created?.pass?.reasons ?? [])
      .map(({ object }) => (object !== undefined && "name" in object ? object.name : ""));

    expect(woken).toContain(name);
    const deletion = (await read(cluster, "Pod", name)).find(({ fields }) =>
      fields?.some(({ path }) => path === "metadata.deletionTimestamp"),
    );
    expect(deletion).toMatchObject({ operation: "Updated", author: { user: "kubernetes-admin" } });
  });
});

async function startDeployment(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", nodes: 1 });
  const labels = { app: "web" };
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  });
  await cluster.settle();
  return cluster;
}

/** `type` is a kind with its group, as `ReplicaSet.apps`. */
async function read(
  cluster: Cluster,
  type: string,
  name: string,
  revision?: string,
): Promise<readonly Change[]> {
  const [kind = "", group = ""] = type.split(".");
  const at = revision === undefined ? "" : `,revision=${revision}`;
  const fieldSelector = `object.group=${group},object.kind=${kind},object.name=${name}${at}`;
  const path = `${CAUSES}/namespaces/default/changes`;
  const list = (await cluster.client.request({ path, query: { fieldSelector } })) as ChangeList;
  return list.items;
}
