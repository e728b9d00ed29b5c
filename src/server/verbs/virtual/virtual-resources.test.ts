import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { microTimeText } from "../../../api/values/time.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import { FormCache } from "../../representation/form-cache.ts";
import { metadataView } from "../../representation/object-view.ts";
import { Table } from "../../representation/table.ts";
import { ServerFixture, textAt } from "../../upkeep/fixture.ts";
import type { FixtureReply } from "../../upkeep/fixture.ts";

const ACCESS = "/apis/authorization.k8s.io/v1";

describe("reviews", () => {
  test("a SelfSubjectReview returns the caller", async () => {
    const server = await ServerFixture.start();

    const reply = await server.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});

    expect(reply).toMatchObject({
      code: 201,
      body: {
        kind: "SelfSubjectReview",
        metadata: { creationTimestamp: expect.any(String) as string },
        status: { userInfo: { username: "alice", uid: "u1", groups: ["system:authenticated"] } },
      },
    });
  });

  test("access reviews tell whether the user has access", async () => {
    const server = await ServerFixture.start();
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };

    const access = await server.send("POST", `${ACCESS}/selfsubjectaccessreviews`, { spec });
    const rules = await server.send("POST", `${ACCESS}/selfsubjectrulesreviews`, {
      spec: { namespace: "default" },
    });

    expect(access).toMatchObject({ code: 201, body: { spec, status: { allowed: true } } });
    expect(rules.body["status"]).toEqual({
      incomplete: false,
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    });
  });

  test("reviews without a question or about another namespace are refused", async () => {
    const server = await ServerFixture.start();
    const local = { user: "bob", resourceAttributes: { namespace: "other", verb: "get", resource: "pods" } };

    const empty = await server.send("POST", `${ACCESS}/subjectaccessreviews`, { spec: {} });
    const elsewhere = await server.send("POST", `${ACCESS}/namespaces/default/localsubjectaccessreviews`, {
      spec: local,
    });

    expect(empty.code).toBe(422);
    expect(empty.body["details"]?.["causes"]).toHaveLength(2);
    expect(elsewhere.body["message"]).toContain("must match metadata.namespace");
    expect(
      (await server.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: {} })).code,
    ).toBe(400);
  });

  test.each([
    ["selfsubjectaccessreviews", "must be empty"],
    ["subjectaccessreviews", "must be empty"],
    ["namespaces/default/localsubjectaccessreviews", "must be empty except for namespace"],
  ])("reviews of access must not have a name: %s", async (path, problem) => {
    const server = await ServerFixture.start();
    const resourceAttributes = { namespace: "default", verb: "get", resource: "pods" };
    const ask = (metadata: object): Promise<FixtureReply> =>
      server.send("POST", `${ACCESS}/${path}`, { metadata, spec: { user: "bob", resourceAttributes } });

    const named = await ask({ name: "a" });

    expect(named.code).toBe(422);
    expect(textAt(named.body, "details", "causes", "0", "message")).toContain(problem);
    expect((await ask({ creationTimestamp: null })).code).toBe(201);
    expect((await ask({ managedFields: [{ manager: "a" }] })).code).toBe(201);
  });

  test.each([
    ["fieldSelector", {}, "requirements: Required value: when spec.resourceAttributes.fieldSelector is"],
    ["fieldSelector", { requirements: [{ operator: "In", values: ["a"] }] }, "key: Required value"],
    ["fieldSelector", { requirements: [{ key: "a", operator: "In" }] }, "values: Required value"],
    [
      "labelSelector",
      { requirements: [{ key: "a", operator: "Exists", values: ["b"] }] },
      "values: Forbidden",
    ],
    ["labelSelector", { requirements: [{ key: "a b", operator: "Exists" }] }, "key: Invalid value"],
    [
      "labelSelector",
      { requirements: [{ key: "a", operator: "In", values: ["b c"] }] },
      "values[0]: Invalid",
    ],
    ["labelSelector", { requirements: [{ key: "a", operator: "Later", values: ["b"] }] }, ""],
    ["fieldSelector", { requirements: [{ key: "a", operator: "Later" }] }, ""],
  ])("a review reports an invalid %s: %j", async (field, selector, problem) => {
    const server = await ServerFixture.start();
    const resourceAttributes = { verb: "list", resource: "pods", [field]: selector };

    const { code, body } = await server.send("POST", `${ACCESS}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes },
    });

    expect(code).toBe(problem === "" ? 201 : 422);
    if (problem !== "") expect(textAt(body, "message")).toContain(problem);
  });

  test("reviews can be created and not read", async () => {
    const server = await ServerFixture.start();

    expect((await server.send("GET", `${ACCESS}/subjectaccessreviews`)).code).toBe(405);
  });
});

describe("component status", () => {
  test("component status shows the store under the name that clients know", async () => {
    const server = await ServerFixture.start();
    const healthy = { metadata: { name: "etcd-0" }, conditions: [{ type: "Healthy", status: "True" }] };

    expect((await server.send("GET", "/api/v1/componentstatuses")).body).toMatchObject({ items: [healthy] });
    expect((await server.send("GET", "/api/v1/componentstatuses/etcd-0")).body).toMatchObject(healthy);
    expect((await server.send("GET", "/api/v1/componentstatuses/other")).code).toBe(404);
  });

  test("component status shows whether the leader election leases are held", async () => {
    const server = await ServerFixture.start();
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    const renewTime = microTimeText(server.verbParts.loop.now());
    const held = { holderIdentity: "a", leaseDurationSeconds: 15, renewTime };
    await server.send("POST", "/api/v1/namespaces", { metadata: { name: "kube-system" } });
    await server.send("POST", leases, { metadata: { name: "kube-scheduler" }, spec: held });
    const long = { ...held, renewTime: "2020-01-01T00:00:00.000000Z" };
    await server.send("POST", leases, { metadata: { name: "kube-controller-manager" }, spec: long });

    const { body } = await server.send("GET", "/api/v1/componentstatuses");

    expect(body).toMatchObject({
      items: [
        { metadata: { name: "etcd-0" } },
        { metadata: { name: "scheduler" }, conditions: [{ status: "True", message: "ok" }] },
        {
          metadata: { name: "controller-manager" },
          conditions: [
            { status: "False", message: "no instance holds the lease kube-system/kube-controller-manager" },
          ],
        },
      ],
    });
  });

  test("component status supports the metadata view, also in a list", async () => {
    const server = await ServerFixture.start();
    const tools = { versions: server.verbParts.versions, cache: new FormCache() };
    const { body } = await server.send("GET", "/api/v1/componentstatuses");

    const shown = metadataView("v1", tools, undefined).shown(body as JsonObject as ApiObject);

    expect(shown).toMatchObject({
      kind: "PartialObjectMetadataList",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "etcd-0" } }],
    });
    expect(shown).not.toHaveProperty("items.0.conditions");
  });

  test("component status is a table with one row per component", async () => {
    const server = await ServerFixture.start();
    const { registry } = server.verbParts;
    const resource = registry.find({ group: "", version: "v1", resource: "componentstatuses" });
    if (resource === undefined) throw new Error("component statuses are served");
    const servedOf = (stored: StoredObject): ApiObject => stored.object;
    const table = new Table({ resource, metaVersion: "v1", view: undefined, servedOf, now: 0 });

    const { body } = await server.send("GET", "/api/v1/componentstatuses");
    const shown = table.value(body as JsonObject as ApiObject, { hasColumns: true });

    expect(shown["columnDefinitions"]).toMatchObject([
      { name: "Name" },
      { name: "Status" },
      { name: "Message" },
      { name: "Error" },
    ]);
    expect(shown["rows"]).toEqual([{ cells: ["etcd-0", "Healthy", "ok", ""], object: null }]);
  });
});
