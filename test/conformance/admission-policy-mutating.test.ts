/** Mutating policies through the API: the objects they produce. */
import { describe, expect, test } from "vitest";
import { hasCondition, TestApi, until, listOf } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";
import {
  bind,
  deployment,
  DEPLOYMENTS,
  map,
  MAPS,
  messageOf,
  mutate,
  put,
  validate,
} from "./admission-policy-fixture.ts";

async function writeX(api: TestApi, how: "merge-patch" | "json-patch" | "update"): Promise<Reply> {
  const target = `${MAPS}/a?fieldManager=me`;
  if (how === "update") return api.send("PUT", target, map("a", { x: "2" }));
  const patch =
    how === "merge-patch" ? { data: { x: "2" } } : [{ op: "replace", path: "/data/x", value: "2" }];
  return api.send("PATCH", target, patch, { type: `application/${how}+json` });
}

describe("a mutating policy", () => {
  test("adds fields, merging lists by their keys", async () => {
    await using api = await TestApi.start();
    const rule = {
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      operations: ["CREATE"],
      resources: ["deployments"],
    };
    await mutate(
      api,
      [
        "Object{metadata: Object.metadata{annotations: {'by': 'policy'}}, spec: Object.spec{replicas: object.spec.replicas + 1}}",
        `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
           Object.spec.template.spec.containers{name: 'sidecar', image: 'side:1'}]}}}}`,
      ],
      { spec: { matchConstraints: { resourceRules: [rule] } } },
    );

    const { code, body } = await api.send("POST", DEPLOYMENTS, deployment("web"));

    expect(code).toBe(201);
    expect(body["spec"]?.["replicas"]).toBe(4);
    expect(body["metadata"]?.["annotations"]).toEqual({ by: "policy" });
    expect(body["spec"]?.["template"]?.["spec"]?.["containers"]).toMatchObject([
      { name: "main", image: "web:1" },
      { name: "sidecar", image: "side:1", imagePullPolicy: "IfNotPresent", resources: {} },
    ]);
  });

  test("patches, unless a test of the patch does not hold", async () => {
    await using api = await TestApi.start();
    const expression = `[
      JSONPatch{op: "test", path: "/data/x", value: "1"},
      JSONPatch{op: "add", path: "/metadata/annotations", value: {"a": "b"}},
      JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("k/l"), value: object.data.x + "!"},
      JSONPatch{op: "remove", path: "/data/x"}
    ]`;
    const mutations = [{ patchType: "JSONPatch", jsonPatch: { expression } }];
    await bind(api, "Mutating", { spec: { reinvocationPolicy: "Never", mutations } });

    const { body } = await api.send("POST", MAPS, map("a", { x: "1" }));

    expect(body["data"]).toBeUndefined();
    expect(body["metadata"]?.["annotations"]).toEqual({ a: "b", "k/l": "1!" });
    expect((await api.send("POST", MAPS, map("b", { x: "2" }))).body["data"]).toEqual({ x: "2" });
  });

  test("sees whose fields they are, also of a new object, and leaves them so", async () => {
    await using api = await TestApi.start();
    const first = "object.metadata.managedFields[0].manager";
    await mutate(api, [`Object{metadata: Object.metadata{annotations: {'by': ${first}}}}`]);

    const { code, body } = await api.send("POST", `${MAPS}?fieldManager=me`, map("a", { x: "1" }));

    expect(code).toBe(201);
    expect(body["metadata"]?.["annotations"]).toEqual({ by: "me" });
    expect(body["metadata"]?.["managedFields"]).toMatchObject([{ manager: "me", operation: "Update" }]);
  });

  test("that names an owner twice has named it once, and who wrote the object is told so", async () => {
    await using api = await TestApi.start();
    const owner = `{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}`;
    const expression = `[JSONPatch{op: "add", path: "/metadata/ownerReferences", value: [${owner}, ${owner}]}]`;
    const mutations = [{ patchType: "JSONPatch", jsonPatch: { expression } }];
    await bind(api, "Mutating", { spec: { reinvocationPolicy: "Never", mutations } });

    const { body, headers } = await api.send("POST", MAPS, map("a"));

    expect(body["metadata"]?.["ownerReferences"]).toEqual([
      { apiVersion: "v1", kind: "Node", name: "n", uid: "u" },
    ]);
    expect(headers.get("warning")).toContain(
      ".metadata.ownerReferences contains duplicate entries after mutating admission happens;",
    );
  });

  test("looks again at what later ones have changed, when it wants to", async () => {
    await using api = await TestApi.start();
    const count = "Object{metadata: Object.metadata{annotations: {'seen': string(object.data.size())}}}";
    await mutate(api, [count], { name: "a-once" });
    await mutate(api, [count.replace("seen", "seen-again")], {
      name: "b",
      spec: { reinvocationPolicy: "IfNeeded" },
    });
    await mutate(api, ["Object{data: Object.data{added: 'x'}}"], { name: "c" });

    const { body } = await api.send("POST", MAPS, map("a", { x: "1" }));

    expect(body["data"]).toEqual({ x: "1", added: "x" });
    expect(body["metadata"]?.["annotations"]).toEqual({ seen: "1", "seen-again": "2" });
  });

  test("that wants to look again does so after its own change, as upstream has it", async () => {
    await using api = await TestApi.start();
    const more = "Object{data: Object.data{n: string(int(object.data.n) + 1)}}";
    await mutate(api, [more], { spec: { reinvocationPolicy: "IfNeeded" } });

    const { body } = await api.send("POST", MAPS, map("a", { n: "1" }));

    expect(body["data"]).toEqual({ n: "3" });
  });

  test.each(["merge-patch", "json-patch", "update"] as const)(
    "adds fields that nobody owns to what is written by %s",
    async (how) => {
      await using api = await TestApi.start();
      await put(api, MAPS, map("a", { x: "1" }));
      await mutate(api, ["Object{data: Object.data{added: 'y'}}"]);

      const { body } = await writeX(api, how);

      expect(body["data"]).toEqual({ x: "2", added: "y" });
      expect(JSON.stringify(body["metadata"]?.["managedFields"])).not.toContain("f:added");
    },
  );

  test("sees what is applied again, even if it is the same", async () => {
    await using api = await TestApi.start();
    const config = map("a", { x: "1" });
    const apply = (): Promise<Reply> =>
      api.send("PATCH", `${MAPS}/a?fieldManager=me`, config, { type: "application/apply-patch+yaml" });
    const first = await apply();
    await mutate(api, ["Object{data: Object.data{added: 'y'}}"]);

    const second = await apply();
    const third = await apply();
    await validate(api, { name: "q", spec: { validations: [{ expression: "false", message: "closed" }] } });

    expect(second.body["data"]).toEqual({ x: "1", added: "y" });
    expect(second.body["metadata"]?.["resourceVersion"]).not.toBe(
      first.body["metadata"]?.["resourceVersion"],
    );
    expect(third.body["metadata"]?.["resourceVersion"]).toBe(second.body["metadata"]?.["resourceVersion"]);
    expect(messageOf(await apply())).toContain("denied request: closed");
  });

  test.each([
    [
      "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'l': 'v'}}}}",
      "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector",
    ],
    [
      "Object{spec: Object.specx{replicas: 1}}",
      'type mismatch: unexpected type name "Object.specx", expected "Object.spec", which matches field name path from root Object type',
    ],
    [
      "Object{spec: Object.spec{none: 1}}",
      "error applying patch: failed to convert patch object to typed object: .spec.none: field not declared in schema",
    ],
    [
      "Object{metadata: Object.metadata{name: 'other'}}",
      "error applying patch: metadata.name may not be changed",
    ],
  ])("that says %s is refused", async (expression, message) => {
    await using api = await TestApi.start();
    const rule = {
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      operations: ["CREATE"],
      resources: ["deployments"],
    };
    await mutate(api, [expression], { spec: { matchConstraints: { resourceRules: [rule] } } });

    expect(messageOf(await api.send("POST", DEPLOYMENTS, deployment("web")))).toBe(
      `policy 'p' with binding 'p-b' denied request: ${message}`,
    );
  });

  test("leaves an applied object as its applier wants it, with what the policy adds", async () => {
    await using api = await TestApi.start();
    await mutate(api, ["Object{data: {'added': object.data.size() > 0 ? 'yes' : 'no'}}"]);
    const apply = (): Promise<Reply> =>
      api.send("PATCH", `${MAPS}/a?fieldManager=me`, map("a", { x: "1" }), {
        type: "application/apply-patch+yaml",
      });

    const first = await apply();
    const second = await apply();

    expect(first.body["data"]).toEqual({ x: "1", added: "yes" });
    expect(second.body["data"]).toEqual({ x: "1", added: "yes" });
    expect(second.body["metadata"]?.["resourceVersion"]).toBe(first.body["metadata"]?.["resourceVersion"]);
  });

  test("gives those before it a look at what it adds", async () => {
    await using api = await TestApi.start();
    const path = "/api/v1/namespaces/default/limitranges";
    await api.send("POST", path, {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "l" },
      spec: { limits: [{ type: "Container", default: { cpu: "1" } }] },
    });
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
    const expression =
      "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: 'side:1'}]}}";
    await mutate(api, [expression], { spec: { matchConstraints: { resourceRules: [rule] } } });

    const { body } = await api.send("POST", "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a" },
      spec: { containers: [{ name: "main", image: "web:1" }] },
    });

    const containers = listOf<{
      name: string;
      resources: object;
    }>(body["spec"]?.["containers"]);
    expect(containers.map(({ name, resources }) => [name, resources])).toEqual([
      ["main", { limits: { cpu: "1" }, requests: { cpu: "1" } }],
      ["side", { limits: { cpu: "1" }, requests: { cpu: "1" } }],
    ]);
  });

  test("changes objects of kinds that users define, and what they are when they are updated", async () => {
    await using api = await TestApi.start();
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const parts = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
    const item = {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, size: { type: "integer", default: 3 } },
    };
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties: { parts: { ...parts, items: item } } } },
    };
    await api.send("POST", definitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await until(api, `${definitions}/widgets.example.com`, hasCondition("Established"));
    const rule = {
      apiGroups: ["example.com"],
      apiVersions: ["v1"],
      operations: ["*"],
      resources: ["widgets"],
    };
    await mutate(api, ["Object{spec: Object.spec{parts: [Object.spec.parts{name: 'extra'}]}}"], {
      spec: { matchConstraints: { resourceRules: [rule] } },
    });
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const widget = (name: string): object => ({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec: { parts: [{ name, size: 1 }] },
    });

    const created = await api.send("POST", path, widget("own"));
    const patched = await api.send(
      "PATCH",
      `${path}/a`,
      { spec: { parts: [{ name: "other", size: 2 }] } },
      {
        type: "application/merge-patch+json",
      },
    );

    expect(created.body["spec"]).toEqual({
      parts: [
        { name: "own", size: 1 },
        { name: "extra", size: 3 },
      ],
    });
    expect(patched.body["spec"]).toEqual({
      parts: [
        { name: "other", size: 2 },
        { name: "extra", size: 3 },
      ],
    });
  });
});
