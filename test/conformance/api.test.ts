/** Guarantees of the API that hold for every kind. */
import { describe, expect, test } from "vitest";
import { TestApi, text, watchEvents, listOf } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

function configMap(name: string, data: Record<string, string> = { a: "1" }): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app: name } }, data };
}

describe("create", () => {
  test("answers 201 with what the server decides", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("POST", MAPS, configMap("a"));

    expect(code).toBe(201);
    expect(body).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
    expect(body["metadata"]).toMatchObject({
      name: "a",
      namespace: "default",
      managedFields: [{ manager: "test", operation: "Update" }],
    });
    expect(body["metadata"]?.["uid"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(body["metadata"]?.["creationTimestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Number(body["metadata"]?.["resourceVersion"])).toBeGreaterThan(1);
  });

  test("of a copy of another object takes neither its identity nor its end", async () => {
    await using api = await TestApi.start();
    const gone = { uid: "x", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 4 };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...gone } };

    const { code, body } = await api.send("POST", MAPS, object);

    expect(code).toBe(201);
    expect(Object.keys(body["metadata"] ?? {}).toSorted()).toEqual([
      "creationTimestamp",
      "name",
      "namespace",
      "resourceVersion",
      "uid",
    ]);
    expect(body["metadata"]?.["uid"]).not.toBe("x");
  });

  test("a name can be used once", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const { code, body } = await api.send("POST", MAPS, configMap("a"));

    expect([code, body["reason"], body["message"]]).toEqual([
      409,
      "AlreadyExists",
      'configmaps "a" already exists',
    ]);
  });

  test("nothing is created in a namespace that does not exist", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("POST", "/api/v1/namespaces/none/configmaps", configMap("a"));

    expect([code, body["message"]]).toEqual([404, 'namespaces "none" not found']);
  });

  test("a dry run shows the object and changes nothing", async () => {
    await using api = await TestApi.start();
    const before = api.store.view.revision;

    const { code } = await api.send("POST", `${MAPS}?dryRun=All`, configMap("a"));

    expect([code, api.store.view.revision]).toEqual([201, before]);
  });

  test("generateName makes names that are free", async () => {
    await using api = await TestApi.start();
    const object = { ...configMap(""), metadata: { generateName: "a-" } };

    const names = await Promise.all(
      [1, 2, 3].map(async () => (await api.send("POST", MAPS, object)).body["metadata"]?.["name"]),
    );

    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^a-[a-z0-9]{5}$/);
  });

  test.each([
    [
      "Strict",
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nonsense"',
    ],
    ["Warn", 201, undefined],
    ["Ignore", 201, undefined],
  ])("with fieldValidation %s an unknown field gives %d", async (validation, expected, message) => {
    await using api = await TestApi.start();

    const { code, body, headers } = await api.send("POST", `${MAPS}?fieldValidation=${validation}`, {
      ...configMap("a"),
      nonsense: 1,
    });

    expect([code, code === 201 ? undefined : body["message"]]).toEqual([expected, message]);
    expect(headers.has("warning")).toBe(validation === "Warn");
  });

  test("who is refused is told of unknown fields as well", async () => {
    await using api = await TestApi.start();
    const bad = { ...configMap("A"), nonsense: 1 };
    await api.send("POST", MAPS, configMap("a"));

    const created = await api.send("POST", MAPS, bad);
    const again = await api.send("POST", MAPS, { ...configMap("a"), nonsense: 1 });
    const updated = await api.send("PUT", `${MAPS}/a`, {
      ...configMap("a"),
      nonsense: 1,
      data: { "/": "" },
    });
    const patched = await api.send(
      "PATCH",
      `${MAPS}/a`,
      { nonsense: 1, data: { "/": "" } },
      { type: "application/merge-patch+json" },
    );

    expect([created, again, updated, patched].map(({ code }) => code)).toEqual([422, 409, 422, 422]);
    for (const { headers } of [created, again, updated, patched]) {
      expect(headers.get("warning")).toBe(String.raw`299 - "unknown field \"nonsense\""`);
    }
  });

  test("what is said of an object is said also where another one has its name", async () => {
    await using api = await TestApi.start();
    const path = "/api/v1/namespaces/default/replicationcontrollers";
    const controller = {
      apiVersion: "v1",
      kind: "ReplicationController",
      metadata: { name: "old" },
      spec: {
        selector: { a: "b" },
        template: {
          metadata: { labels: { a: "b" } },
          spec: {
            nodeSelector: { "beta.kubernetes.io/arch": "amd64" },
            containers: [{ name: "a", image: "b" }],
          },
        },
      },
    };
    await api.send("POST", path, controller);

    const { code, headers } = await api.send("POST", path, controller);

    expect([code, headers.get("warning")]).toEqual([
      409,
      expect.stringContaining("deprecated since v1.14") as unknown,
    ]);
  });

  test("a pod is warned of an AppArmor profile that is told in an annotation", async () => {
    await using api = await TestApi.start();
    const key = "container.apparmor.security.beta.kubernetes.io/a";

    const { code, headers } = await api.send("POST", "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", annotations: { [key]: "runtime/default" } },
      spec: { containers: [{ name: "a", image: "b" }] },
    });

    expect([code, headers.get("warning")]).toEqual([
      201,
      String.raw`299 - "metadata.annotations[${key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"`,
    ]);
  });

  test("an owner that is named twice is kept once, and told of", async () => {
    await using api = await TestApi.start();
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u-1" };
    const other = { ...owner, name: "p" };
    const owned = { ...configMap("a"), metadata: { name: "a", ownerReferences: [owner, owner, other] } };
    const { metadata } = owned;

    const created = await api.send("POST", MAPS, owned);
    const updated = await api.send("PUT", `${MAPS}/a`, owned);
    const patched = await api.send(
      "PATCH",
      `${MAPS}/a`,
      { metadata },
      { type: "application/merge-patch+json" },
    );

    for (const { body } of [created, updated, patched]) {
      expect(body["metadata"]?.["ownerReferences"]).toEqual([owner, other]);
    }
    expect([created, updated, patched].map(({ headers }) => headers.get("warning"))).toEqual([
      expect.stringMatching(/ownerReferences contains duplicate entries; .* observed: u-1"$/),
      expect.stringMatching(/ownerReferences contains duplicate entries; .* observed: u-1"$/),
      expect.stringMatching(/duplicate entries after mutating admission happens; .* observed: u-1"$/),
    ]);
  });

  test("who asks for something deprecated that is not there is told that it is", async () => {
    await using api = await TestApi.start();

    const { code, headers } = await api.send("GET", "/api/v1/namespaces/default/endpoints/none");

    expect([code, headers.get("warning")]).toEqual([
      404,
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    ]);
  });
});

describe("a resourceVersion on an object to be created", () => {
  const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const APPLY = { type: "application/apply-patch+yaml" };
  const map = (resourceVersion: string, name = "a"): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, resourceVersion },
  });
  const versionIn = ({ body }: Reply): string => text(body["metadata"]?.["resourceVersion"]);

  test("is refused by POST as upstream's store refuses it", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("POST", MAPS, map("5"));

    expect(code).toBe(500);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "resourceVersion should not be set on objects to be created",
      code: 500,
    });
    expect((await api.send("GET", `${MAPS}/a`)).code).toBe(404);
  });

  test("is looked at after everything else that is wrong, and before the name is found taken", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, { metadata: { name: "a" } });

    const invalid = await api.send("POST", MAPS, map("5", "A"));
    const nowhere = await api.send("POST", "/api/v1/namespaces/none/configmaps", map("5"));
    const taken = await api.send("POST", MAPS, map("5"));

    expect([invalid.code, nowhere.code, taken.code]).toEqual([422, 404, 500]);
  });

  test("is shown as it was sent by a dry run", async () => {
    await using api = await TestApi.start();

    const posted = await api.send("POST", `${MAPS}?dryRun=All`, map("5"));
    const applied = await api.send("PATCH", `${MAPS}/a?dryRun=All&fieldManager=x`, map("5"), APPLY);

    expect([posted.code, versionIn(posted)]).toEqual([201, "5"]);
    expect([applied.code, versionIn(applied)]).toEqual([201, "5"]);
  });

  test.each(["0", "00", "-1", "v1", "18446744073709551616"])(
    "means nothing when it is %s",
    async (resourceVersion) => {
      await using api = await TestApi.start();

      const reply = await api.send("POST", MAPS, map(resourceVersion));

      expect([reply.code, versionIn(reply)]).toEqual([201, String(api.store.view.revision)]);
    },
  );

  test("means nothing to PUT and apply", async () => {
    await using api = await TestApi.start();
    const lease = { metadata: { name: "a", resourceVersion: "5" }, spec: {} };

    const put = await api.send("PUT", `${LEASES}/a`, lease);
    const applied = await api.send("PATCH", `${MAPS}/a?fieldManager=x`, map("5"), APPLY);

    expect([put.code, applied.code]).toEqual([201, 201]);
    expect(versionIn(applied)).toBe(String(api.store.view.revision));
  });
});

describe("update", () => {
  test("with a stale resourceVersion is a conflict", async () => {
    await using api = await TestApi.start();
    const { body: first } = await api.send("POST", MAPS, configMap("a"));
    await api.send("PUT", `${MAPS}/a`, { ...first, data: { a: "2" } });

    const { code, body } = await api.send("PUT", `${MAPS}/a`, { ...first, data: { a: "3" } });

    expect([code, body["reason"]]).toEqual([409, "Conflict"]);
  });

  test("with a resourceVersion of 0 is meant for whatever version there is", async () => {
    await using api = await TestApi.start();
    const any = (data: Record<string, string>) => {
      const map = configMap("a", data);
      return { ...map, metadata: { name: "a", resourceVersion: "0" } };
    };

    const created = await api.send("POST", MAPS, any({ a: "1" }));
    const updated = await api.send("PUT", `${MAPS}/a`, any({ a: "2" }));

    expect([created.code, updated.code]).toEqual([201, 200]);
    expect(updated.body).toMatchObject({ data: { a: "2" } });
  });

  test("that changes nothing makes no revision", async () => {
    await using api = await TestApi.start();
    const { body: first } = await api.send("POST", MAPS, configMap("a"));
    const before = api.store.view.revision;

    const { code, body } = await api.send("PUT", `${MAPS}/a`, first);

    expect([code, api.store.view.revision]).toEqual([200, before]);
    expect(body).toEqual(first);
  });
});

describe("patch", () => {
  test.each([
    ["application/merge-patch+json", { data: { b: "2", a: null } }],
    ["application/strategic-merge-patch+json", { data: { b: "2", a: null } }],
    [
      "application/json-patch+json",
      [
        { op: "add", path: "/data/b", value: "2" },
        { op: "remove", path: "/data/a" },
      ],
    ],
  ])("%s changes what it says", async (type, change) => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const { code, body } = await api.send("PATCH", `${MAPS}/a`, change, { type });

    expect([code, body["data"]]).toEqual([200, { b: "2" }]);
  });

  test("concurrent patches of one object all take effect", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const keys = Array.from({ length: 20 }, (_, n) => `k${String(n)}`);
    await Promise.all(
      keys.map((key) =>
        api.send("PATCH", `${MAPS}/a`, { data: { [key]: "x" } }, { type: "application/merge-patch+json" }),
      ),
    );

    const { body } = await api.send("GET", `${MAPS}/a`);
    expect(Object.keys(body["data"] ?? {}).toSorted()).toEqual(["a", ...keys].toSorted());
  });
});

describe("a deletion of Jobs", () => {
  const path = "/apis/batch/v1/namespaces/default/jobs";

  test.each([path, `${path}/a`])("warns who does not say what becomes of their pods: %s", async (target) => {
    await using api = await TestApi.start();

    const { headers } = await api.send("DELETE", target);
    const told = await api.send("DELETE", `${target}?propagationPolicy=Orphan`);

    expect(headers.get("warning")).toContain("child pods are preserved by default when jobs are deleted");
    expect(told.headers.get("warning") ?? "").toBe("");
  });
});

describe("warnings about a template", () => {
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const nodeSelector = { "beta.kubernetes.io/os": "linux" };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a.b" },
    spec: {
      selector: { matchLabels: { app: "a" } },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { nodeSelector, containers: [{ name: "a", image: "a" }] },
      },
    },
  };
  const relabelled = { ...deployment, metadata: { name: "a.b", labels: { a: "b" } } };
  const labels = { metadata: { labels: { a: "b" } } };

  test.each([
    ["PUT", "application/json", undefined],
    ["PATCH", "application/merge-patch+json", labels],
    ["PATCH", "application/strategic-merge-patch+json", labels],
    ["PATCH", "application/apply-patch+yaml", relabelled],
  ])("are not told again to who changes labels: %s %s", async (method, type, content) => {
    await using api = await TestApi.start();
    const made = await api.send("POST", path, deployment);
    const body = content ?? { ...made.body, metadata: { ...made.body["metadata"], labels: { a: "b" } } };

    const { code, headers } = await api.send(method, `${path}/a.b?fieldManager=test`, body, { type });

    expect(made.headers.get("warning")).toContain("deprecated since v1.14");
    expect([code, headers.get("warning") ?? ""]).toEqual([200, ""]);
  });

  test("are told again to who changes its spec, but not those about its name", async () => {
    await using api = await TestApi.start();
    await api.send("POST", path, deployment);

    const { headers } = await api.send(
      "PATCH",
      `${path}/a.b`,
      { spec: { replicas: 2 } },
      {
        type: "application/merge-patch+json",
      },
    );

    expect(headers.get("warning")).toContain("deprecated since v1.14");
    expect(headers.get("warning")).not.toContain("metadata.name");
  });
});

describe("apply", () => {
  const type = "application/apply-patch+yaml";

  test("creates, then changes nothing when repeated", async () => {
    await using api = await TestApi.start();

    const created = await api.send("PATCH", `${MAPS}/a?fieldManager=me`, configMap("a"), { type });
    const before = api.store.view.revision;
    const repeated = await api.send("PATCH", `${MAPS}/a?fieldManager=me`, configMap("a"), { type });

    expect([created.code, repeated.code, api.store.view.revision]).toEqual([201, 200, before]);
    expect(repeated.body).toEqual(created.body);
  });

  test("reports a conflict with the manager and the field, unless forced", async () => {
    await using api = await TestApi.start();
    await api.send("PATCH", `${MAPS}/a?fieldManager=me`, configMap("a"), { type });
    const other = configMap("a", { a: "2" });

    const refused = await api.send("PATCH", `${MAPS}/a?fieldManager=you`, other, { type });
    const forced = await api.send("PATCH", `${MAPS}/a?fieldManager=you&force=true`, other, { type });

    expect([refused.code, refused.body["message"]]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "me": .data.a',
    ]);
    expect([forced.code, forced.body["data"]]).toEqual([200, { a: "2" }]);
  });
});

describe("a write that names a uid", () => {
  const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "a", uid: "gone" },
    spec: {},
  };

  test("makes no new object, where an update may", async () => {
    await using api = await TestApi.start();

    const refused = await api.send("PUT", LEASE, lease);
    const made = await api.send("PUT", LEASE, { ...lease, metadata: { name: "a" } });

    expect([refused.code, refused.body["reason"], made.code]).toEqual([409, "Conflict", 201]);
    expect(refused.body["message"]).toContain("UID in precondition: gone, UID in object meta: ");
  });

  test("makes no new object by being applied", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("PATCH", `${LEASE}?fieldManager=me`, lease, {
      type: "application/apply-patch+yaml",
    });

    expect(code).toBe(409);
    expect(body["message"]).toBe(
      'Operation cannot be fulfilled on leases.coordination.k8s.io "a": uid mismatch: the provided object specified uid gone, and no existing object was found',
    );
  });
});

test("a namespace is ignored where a kind has none, however it is written", async () => {
  await using api = await TestApi.start();
  const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const role = (name: string): object => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, namespace: "somewhere" },
  });

  const replies = [
    await api.send("POST", ROLES, role("a")),
    await api.send("PUT", `${ROLES}/a`, role("a")),
    await api.send("PUT", `${ROLES}/b`, role("b")),
    await api.send(
      "PATCH",
      `${ROLES}/a`,
      { metadata: { namespace: "x" } },
      { type: "application/merge-patch+json" },
    ),
    await api.send("PATCH", `${ROLES}/c?fieldManager=me`, role("c"), {
      type: "application/apply-patch+yaml",
    }),
    await api.send("PATCH", `${ROLES}/a?fieldManager=me`, role("a"), {
      type: "application/apply-patch+yaml",
    }),
  ];

  expect(replies.map(({ code }) => code)).toEqual([201, 200, 201, 200, 201, 200]);
  for (const { body } of replies) expect(body["metadata"]).not.toHaveProperty("namespace");
});

describe("managed fields", () => {
  const managedFields = [{}];
  const replacement = { ...configMap("a"), metadata: { name: "a", managedFields } };
  const operations = [{ op: "replace", path: "/metadata/managedFields", value: managedFields }];

  test.each([
    ["PUT", "application/json", replacement],
    ["PATCH", "application/merge-patch+json", { metadata: { managedFields } }],
    ["PATCH", "application/strategic-merge-patch+json", { metadata: { managedFields } }],
    ["PATCH", "application/json-patch+json", operations],
  ])("are cleared by one empty entry: %s %s", async (method, type, content) => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const { code, body } = await api.send(method, `${MAPS}/a`, content, { type });

    expect([code, body["metadata"]?.["managedFields"]]).toEqual([200, undefined]);
  });

  test("stay as they are when a client sends some that cannot be read", async () => {
    await using api = await TestApi.start();
    const { body: made } = await api.send("POST", MAPS, configMap("a"));
    const odd = { metadata: { managedFields: [{ operation: "Delete" }] } };

    const { code, body } = await api.send("PATCH", `${MAPS}/a`, odd, {
      type: "application/merge-patch+json",
    });

    expect([code, body["metadata"]?.["managedFields"]]).toEqual([200, made["metadata"]?.["managedFields"]]);
  });
});

describe("delete", () => {
  test("answers Success and the object is gone", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const { code, body } = await api.send("DELETE", `${MAPS}/a`);

    expect([code, body["status"], body["code"]]).toEqual([200, "Success", undefined]);
    expect((await api.send("GET", `${MAPS}/a`)).body["message"]).toBe('configmaps "a" not found');
  });

  test.each([
    [
      "uid=gone",
      /^Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition \(gone\) does not/,
    ],
    [
      "resourceVersion=1",
      /the ResourceVersion in the precondition \(1\) does not match .* have been modified$/,
    ],
  ])("has preconditions in its query too: %s", async (query, message) => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, configMap("a"));

    const { code, body } = await api.send("DELETE", `${MAPS}/a?${query}`);

    expect([code, body["reason"]]).toEqual([409, "Conflict"]);
    expect(body["message"]).toMatch(message);
  });

  test.each([
    [
      "uid=gone",
      /^Operation cannot .* namespaces "n": Precondition failed: UID in precondition: gone, UID in /,
    ],
    ["resourceVersion=1", /: Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in /],
  ])("of a namespace is refused as an update is: %s", async (query, message) => {
    await using api = await TestApi.start();
    await api.send("POST", "/api/v1/namespaces", { metadata: { name: "n" } });

    const { code, body } = await api.send("DELETE", `/api/v1/namespaces/n?${query}`);

    expect(code).toBe(409);
    expect(body["message"]).toMatch(message);
  });

  test("answers with what is gone, of kinds whose DELETE promises it", async () => {
    await using api = await TestApi.start();
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "a" } };
    const made = await api.send("POST", "/api/v1/namespaces/default/serviceaccounts", account);

    const { code, body } = await api.send("DELETE", "/api/v1/namespaces/default/serviceaccounts/a");

    expect(code).toBe(200);
    expect(body).toMatchObject({ kind: "ServiceAccount", metadata: { uid: made.body["metadata"]?.["uid"] } });
    expect(Number(body["metadata"]?.["resourceVersion"])).toBe(api.store.view.revision);
  });

  test("says of a name that is taken that its object is being deleted", async () => {
    await using api = await TestApi.start();
    const held = { ...configMap("a"), metadata: { name: "a", finalizers: ["example.com/a"] } };
    await api.send("POST", MAPS, held);
    await api.send("DELETE", `${MAPS}/a`);

    const { code, body } = await api.send("POST", MAPS, configMap("a"));

    expect([code, body["message"]]).toEqual([409, 'object is being deleted: configmaps "a" already exists']);
  });

  test("an object with finalizers is marked, and goes with the last of them", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, {
      ...configMap("a"),
      metadata: { name: "a", finalizers: ["example.com/hold"] },
    });

    const { body: marked } = await api.send("DELETE", `${MAPS}/a`);
    const type = "application/merge-patch+json";
    await api.send("PATCH", `${MAPS}/a`, { metadata: { finalizers: null } }, { type });

    expect(marked["metadata"]?.["deletionTimestamp"]).toBeDefined();
    expect((await api.send("GET", `${MAPS}/a`)).code).toBe(404);
  });

  test("a collection is deleted by its selector", async () => {
    await using api = await TestApi.start();
    for (const name of ["a", "b"]) await api.send("POST", MAPS, configMap(name));

    await api.send("DELETE", `${MAPS}?labelSelector=app%3Da`);

    const { body } = await api.send("GET", MAPS);
    expect(listOf<{ metadata: { name: string } }>(body["items"]).map((item) => item.metadata.name)).toEqual([
      "b",
    ]);
  });
});

describe("a namespace", () => {
  test("is only marked when it is deleted, takes nothing new, and goes once its finalizer is taken off", async () => {
    await using api = await TestApi.start(["old"]);

    const { body: marked } = await api.send("DELETE", "/api/v1/namespaces/old");
    const refused = await api.send("POST", "/api/v1/namespaces/old/configmaps", configMap("a"));
    await api.send("PUT", "/api/v1/namespaces/old/finalize", { ...marked, spec: {} });

    expect(marked["status"]?.["phase"]).toBe("Terminating");
    expect([refused.code, refused.body["message"]]).toEqual([
      403,
      'configmaps "a" is forbidden: unable to create new content in namespace old because it is being terminated',
    ]);
    expect((await api.send("GET", "/api/v1/namespaces/old")).code).toBe(404);
  });
});

describe("list", () => {
  test("in pieces shows one revision, whatever is written meanwhile", async () => {
    await using api = await TestApi.start();
    for (const name of ["a", "b", "c", "d"]) await api.send("POST", MAPS, configMap(name));

    const first = await api.send("GET", `${MAPS}?limit=2`);
    await api.send("DELETE", `${MAPS}/c`);
    await api.send("POST", MAPS, configMap("e"));
    const token = text(first.body["metadata"]?.["continue"]);
    const second = await api.send("GET", `${MAPS}?limit=2&continue=${token}`);

    const names = [first, second].flatMap(({ body }) =>
      listOf<{ metadata: { name: string } }>(body["items"]).map((item) => item.metadata.name),
    );
    expect(names).toEqual(["a", "b", "c", "d"]);
    expect(first.body["metadata"]?.["remainingItemCount"]).toBe(2);
    expect(second.body["metadata"]?.["resourceVersion"]).toBe(first.body["metadata"]?.["resourceVersion"]);
  });
});

describe("watch", () => {
  test("tells what begins and stops to match a selector", async () => {
    await using api = await TestApi.start();
    const { body: list } = await api.send("GET", MAPS);
    const ending = new AbortController();
    const from = text(list["metadata"]?.["resourceVersion"]);
    const response = await api.raw(
      "GET",
      `${MAPS}?watch=true&resourceVersion=${from}&labelSelector=app%3Da`,
      undefined,
      { signal: ending.signal },
    );
    const type = "application/merge-patch+json";

    await api.send("POST", MAPS, configMap("b"));
    await api.send("PATCH", `${MAPS}/b`, { metadata: { labels: { app: "a" } } }, { type });
    await api.send("PATCH", `${MAPS}/b`, { data: { x: "y" } }, { type });
    await api.send("PATCH", `${MAPS}/b`, { metadata: { labels: { app: "c" } } }, { type });

    const seen: string[] = [];
    for await (const { type: event, object } of watchEvents(response)) {
      seen.push(`${event} ${text(object["metadata"]?.["labels"]?.["app"])}`);
      if (seen.length === 3) break;
    }
    ending.abort();
    expect(seen).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  });
});
