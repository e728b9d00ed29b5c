/** Admission webhooks as operators register them: the claims of upstream's conformance tests, and more. */
import { describe, expect, test } from "vitest";
import { listOf, text } from "../api-harness.ts";
import { CONFIG_MAPS, definition, PODS, refusal, version, withWebhooks } from "./webhook-fixture.ts";
import { ruleFor } from "./webhook-server.ts";
import type { Behaviour, Found, ReviewRequest } from "./webhook-server.ts";

const CREATED = ruleFor("configmaps", "CREATE");
const WRITTEN = ruleFor("configmaps", "CREATE", "UPDATE");

/** Adds a key if another key exists. */
const addAfter =
  (needed: string, added: string): Behaviour =>
  ({ object }) =>
    object?.["data"]?.[needed] === undefined
      ? {}
      : { patch: [{ op: "add", path: `/data/${added}`, value: "yes" }] };

const denyBad: Behaviour = ({ object, oldObject, operation }) => {
  const judged = operation === "DELETE" ? oldObject : object;
  const isBad = (judged?.["data"] as Found | undefined)?.["bad"] !== undefined;
  return isBad ? { allowed: false, status: { message: "the object holds bad data" } } : {};
};
const DENIED = "denied the request: the object holds bad data";

describe("mutating webhooks", () => {
  test("are asked in their order, and each sees what the former made of the object", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "first", [
        { rules: [CREATED], behaviour: addAfter("start", "stage1") },
        { rules: [CREATED], behaviour: addAfter("stage1", "stage2") },
      ]);

      const made = await world.configMap("a", { start: "yes" });

      expect(made.body["data"]).toEqual({ start: "yes", stage1: "yes", stage2: "yes" });
    }));

  test("see who owns the fields of a new object, and own nothing of it themselves", () =>
    withWebhooks(async (world) => {
      const owned = { "f:data": { ".": {}, "f:start": {} } };
      await world.register("Mutating", "m", [
        { rules: [CREATED], behaviour: addAfter("start", "stage1") },
        { rules: [CREATED], behaviour: addAfter("stage1", "stage2") },
      ]);
      await world.register("Validating", "v", [{ rules: [CREATED] }]);

      const made = await world.configMap("a", { start: "yes" });

      const shown = world.hooks.asked.map(({ request }) => request.object?.["metadata"]?.["managedFields"]);
      expect(shown).toHaveLength(3);
      for (const entries of [...shown, made.body["metadata"]?.["managedFields"]])
        expect(entries).toMatchObject([{ operation: "Update", apiVersion: "v1", fieldsV1: owned }]);
    }));

  test("see who owns what is created by apply", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "m", [{ rules: [CREATED], behaviour: addAfter("start", "stage1") }]);
      const object = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        data: { start: "yes" },
      };

      const made = await world.api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, object, {
        type: "application/apply-patch+yaml",
      });

      const entry = { manager: "me", operation: "Apply", fieldsV1: { "f:data": { "f:start": {} } } };
      const [asked] = world.hooks.asked;
      expect(asked?.request.object?.["metadata"]?.["managedFields"]).toMatchObject([entry]);
      expect(made.body["metadata"]?.["managedFields"]).toMatchObject([entry]);
      expect(made.body["data"]).toEqual({ start: "yes", stage1: "yes" });
    }));

  test("see who owns what is created by a PUT", () =>
    withWebhooks(async (world) => {
      const rules = [{ ...ruleFor("leases", "CREATE"), apiGroups: ["coordination.k8s.io"] }];
      await world.register("Validating", "v", [{ rules }]);
      const object = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "a" },
        spec: { holderIdentity: "me" },
      };

      const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
      const made = await world.api.send("PUT", `${path}?fieldManager=me`, object);

      const entry = { manager: "me", operation: "Update" };
      const [asked] = world.hooks.asked;
      expect(made.code).toBe(201);
      expect(asked?.request.object?.["metadata"]?.["managedFields"]).toMatchObject([entry]);
    }));

  test.each([
    ["PUT", "application/json", { operation: "Update", data: { start: "no" } }],
    ["PATCH", "application/merge-patch+json", { operation: "Update", data: { start: "no" } }],
    ["PATCH", "application/apply-patch+yaml", { operation: "Apply", data: { other: "yes" } }],
  ])("see who owns the fields after a %s of %s", (method, type, { operation, data }) =>
    withWebhooks(async (world) => {
      await world.configMap("a", { start: "yes" });
      const rules = [{ ...CREATED, operations: ["UPDATE"] }];
      const behaviour = addAfter("start", "stage1");
      await world.register("Mutating", "m", [{ rules, behaviour }]);
      await world.register("Validating", "v", [{ rules }]);
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };

      const made = await world.api.send(method, `${CONFIG_MAPS}/a?fieldManager=me`, object, { type });

      const [key] = Object.keys(data);
      const fieldsV1 = { "f:data": { [`f:${String(key)}`]: {} } };
      const shown = world.hooks.asked.map(({ request }) => request.object?.["metadata"]?.["managedFields"]);
      expect(made.code).toBe(200);
      expect(made.body["data"]?.["stage1"]).toBe("yes");
      expect(shown).toHaveLength(2);
      for (const entries of [...shown, made.body["metadata"]?.["managedFields"]]) {
        const own = listOf(entries).filter(({ manager }) => text(manager) === "me");
        expect(own).toMatchObject([{ operation, fieldsV1 }]);
      }
    }),
  );

  test("come by the names of their configurations, whenever these were made", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "b", [{ rules: [CREATED], behaviour: addAfter("stage1", "stage2") }]);
      await world.register("Mutating", "a", [{ rules: [CREATED], behaviour: addAfter("start", "stage1") }]);

      const made = await world.configMap("a", { start: "yes" });

      expect(made.body["data"]).toEqual({ start: "yes", stage1: "yes", stage2: "yes" });
    }));

  test("add to pods what then gets its defaults", () =>
    withWebhooks(async (world) => {
      const added = { name: "added", image: "example.com/init", resources: {} };
      await world.register("Mutating", "pods", [
        {
          rules: [ruleFor("pods", "CREATE")],
          behaviour: () => ({ patch: [{ op: "add", path: "/spec/initContainers", value: [added] }] }),
        },
      ]);

      const made = await world.pod("web");

      expect(made.body["spec"]?.["initContainers"]).toMatchObject([
        { name: "added", terminationMessagePolicy: "File", imagePullPolicy: "Always" },
      ]);
    }));

  test("that ask for it are asked again when a later one changed the object, and no others are", () =>
    withWebhooks(async (world) => {
      const label = (key: string): Behaviour => {
        return ({ object }) => {
          const { labels } = object?.["metadata"] ?? {};
          if (labels === undefined)
            return { patch: [{ op: "add", path: "/metadata/labels", value: { [key]: "1" } }] };
          return labels[key] === undefined
            ? { patch: [{ op: "add", path: `/metadata/labels/${key}`, value: "1" }] }
            : {};
        };
      };
      await world.register("Mutating", "again", [
        { rules: [CREATED], reinvocationPolicy: "IfNeeded", behaviour: label("one") },
        { rules: [CREATED], behaviour: label("two") },
        { rules: [CREATED], reinvocationPolicy: "IfNeeded", behaviour: label("three") },
      ]);

      const made = await world.configMap("a");

      expect(made.body["metadata"]?.["labels"]).toEqual({ one: "1", two: "1", three: "1" });
      expect(world.hooks.asked.map(({ path }) => path)).toEqual([
        "/again/0",
        "/again/1",
        "/again/2",
        "/again/0",
      ]);
      const [, , , last] = world.hooks.asked;
      expect(last?.request.object?.["metadata"]?.["labels"]).toEqual({ one: "1", two: "1", three: "1" });
    }));

  test("may name what has no name yet, and cannot move an object", () =>
    withWebhooks(async (world) => {
      const patches: Record<string, object> = {
        names: { op: "add", path: "/metadata/name", value: "named" },
        moves: { op: "replace", path: "/metadata/namespace", value: "other" },
      };
      await world.register("Mutating", "place", [
        {
          rules: [WRITTEN],
          behaviour: ({ object }) => {
            const patch = patches[text(object?.["data"]?.["do"])];
            return patch === undefined ? {} : { patch: [patch] };
          },
        },
      ]);
      const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "some-" } };

      const named = await world.api.send("POST", CONFIG_MAPS, { ...generated, data: { do: "names" } });
      const moved = await world.configMap("moved", { do: "moves" });
      await world.configMap("kept");
      const renamed = await world.api.send(
        "PATCH",
        `${CONFIG_MAPS}/kept`,
        { data: { do: "names" } },
        { type: "application/merge-patch+json" },
      );

      expect(named.body["metadata"]?.["name"]).toBe("named");
      expect(world.hooks.asked[0]?.request.name).toBeUndefined();
      expect(refusal(moved)).toEqual([
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
      ]);
      expect(renamed.code).toBe(422);
      expect(text(renamed.body["message"])).toContain("metadata.name");
    }));

  test.each<[string, Record<string, unknown>, string]>([
    ["does not fit", { op: "remove", path: "/data/none" }, "remove"],
    ["makes nonsense of the object", { op: "replace", path: "/data", value: "text" }, "ConfigMap"],
  ])("whose patch %s fail the request, not the server", (_, operation, told) =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "bad", [
        { rules: [CREATED], behaviour: () => ({ patch: [operation] }) },
      ]);

      const [code, message] = refusal(await world.configMap("a", { some: "data" }));

      expect(code).toBe(500);
      expect(message).toContain("Internal error occurred: ");
      expect(message).toContain(told);
    }),
  );
});

describe("validating webhooks", () => {
  test("refuse what is created, updated, patched and deleted, in their own words", () =>
    withWebhooks(async (world) => {
      await world.configMap("old", { bad: "yes" });
      await world.configMap("good", { some: "data" });
      const rules = [ruleFor("configmaps", "CREATE", "UPDATE", "DELETE")];
      await world.register("Validating", "judge", [{ rules, behaviour: denyBad }]);
      const bad = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "good" }, data: { bad: "yes" } };
      const send = world.api.send.bind(world.api);

      const refused = [
        await world.configMap("new", { bad: "yes" }),
        await send("PUT", `${CONFIG_MAPS}/good`, bad),
        await send(
          "PATCH",
          `${CONFIG_MAPS}/good`,
          { data: { bad: "yes" } },
          {
            type: "application/merge-patch+json",
          },
        ),
        await send("PATCH", `${CONFIG_MAPS}/good?fieldManager=me&force=true`, bad, {
          type: "application/apply-patch+yaml",
        }),
        await send("DELETE", `${CONFIG_MAPS}/old`),
        await send("DELETE", `${CONFIG_MAPS}?fieldSelector=metadata.name%3Dold`),
      ];

      const message = `admission webhook "hook0.judge.example.com" ${DENIED}`;
      expect(refused.map(refusal)).toEqual(refused.map(() => [400, message]));
      expect((await send("GET", `${CONFIG_MAPS}/good`)).body["data"]).toEqual({ some: "data" });
      expect((await send("GET", `${CONFIG_MAPS}/old`)).code).toBe(200);
    }));

  test("of which several refuse are told by the first in their order", () =>
    withWebhooks(async (world) => {
      const deny =
        (message: string): Behaviour =>
        () => ({ allowed: false, status: { message, code: 403 } });
      await world.register("Validating", "b", [{ rules: [CREATED], behaviour: deny("second") }]);
      await world.register("Validating", "a", [
        { rules: [CREATED] },
        { rules: [CREATED], behaviour: deny("first") },
      ]);

      const refused = refusal(await world.configMap("a"));

      expect(refused).toEqual([403, 'admission webhook "hook1.a.example.com" denied the request: first']);
      expect(world.hooks.asked).toHaveLength(3);
    }));

  test("see an object as it will be stored, with everything that others made of it", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "change", [
        { rules: [CREATED], behaviour: addAfter("start", "added") },
      ]);
      await world.register("Validating", "look", [{ rules: [CREATED] }]);

      const made = await world.configMap("a", { start: "yes" });

      const seen = world.hooks.requests("/look/0")[0]?.object;
      expect(seen?.["data"]).toEqual({ start: "yes", added: "yes" });
      expect(seen?.["metadata"]?.["uid"]).toBe(made.body["metadata"]?.["uid"]);
      expect(world.hooks.requests("/change/0")[0]?.object?.["metadata"]?.["uid"]).toBeUndefined();
    }));

  test("warn people without refusing anything", () =>
    withWebhooks(async (world) => {
      await world.register("Validating", "warn", [
        { rules: [CREATED], behaviour: () => ({ warnings: ['this is "old"', "twice", "twice"] }) },
      ]);

      const made = await world.configMap("a");

      expect(made.code).toBe(201);
      expect(made.headers.get("warning")).toBe('299 - "this is \\"old\\"", 299 - "twice"');
    }));
});

describe("a review", () => {
  test("says who wants to do what to which object, and how", () =>
    withWebhooks(async (world) => {
      await world.configMap("a", { old: "data" });
      await world.register("Validating", "look", [{ rules: [ruleFor("configmaps", "*")] }]);
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { new: "data" } };

      await world.api.send("PUT", `${CONFIG_MAPS}/a?fieldManager=me&dryRun=All`, body);

      const [asked] = world.hooks.asked;
      expect(asked).toMatchObject({ query: "timeout=10s", apiVersion: "admission.k8s.io/v1" });
      const { uid, object, oldObject, ...rest } = asked?.request ?? ({} as ReviewRequest);
      expect(uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(object).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { new: "data" } });
      expect(oldObject).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { old: "data" } });
      expect(rest).toEqual({
        kind: { group: "", version: "v1", kind: "ConfigMap" },
        resource: { group: "", version: "v1", resource: "configmaps" },
        requestKind: { group: "", version: "v1", kind: "ConfigMap" },
        requestResource: { group: "", version: "v1", resource: "configmaps" },
        name: "a",
        namespace: "default",
        operation: "UPDATE",
        userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] },
        dryRun: true,
        options: {
          kind: "UpdateOptions",
          apiVersion: "meta.k8s.io/v1",
          dryRun: ["All"],
          fieldManager: "me",
        },
      });
    }));

  test("of a deletion has the old object only, and the options of the deletion", () =>
    withWebhooks(async (world) => {
      await Promise.all(["a", "b"].map((name) => world.configMap(name)));
      await world.register("Mutating", "look", [{ rules: [ruleFor("configmaps", "DELETE")] }]);
      await world.register("Validating", "look", [{ rules: [ruleFor("configmaps", "DELETE")] }]);

      await world.api.send("DELETE", CONFIG_MAPS, {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Background",
      });

      const seen = world.hooks.asked.map(({ request: { oldObject, object, operation } }) =>
        JSON.stringify([oldObject?.["metadata"]?.["name"], object, operation]),
      );
      // Objects of a collection are deleted in parallel.
      expect(seen.toSorted()).toEqual(["a", "a", "b", "b"].map((name) => `["${name}",null,"DELETE"]`));
      // The request names none of the objects.
      expect(world.hooks.asked.map(({ request }) => request.name)).toEqual(Array(4).fill(undefined));
      expect(world.hooks.asked[0]?.request.oldObject?.["metadata"]?.["name"]).toBe("a");
      expect(world.hooks.asked[0]?.request.options).toEqual({
        kind: "DeleteOptions",
        apiVersion: "meta.k8s.io/v1",
        propagationPolicy: "Background",
      });
    }));

  test("of a deletion by name has the name, and only the options of the request", () =>
    withWebhooks(async (world) => {
      await world.configMap("a");
      await world.register("Validating", "look", [{ rules: [ruleFor("configmaps", "DELETE")] }]);

      await world.api.send("DELETE", `${CONFIG_MAPS}/a`);

      expect(world.hooks.asked[0]?.request).toMatchObject({ name: "a", operation: "DELETE" });
      expect(world.hooks.asked[0]?.request.options).toEqual({
        kind: "DeleteOptions",
        apiVersion: "meta.k8s.io/v1",
      });
    }));

  test("says what is done, whatever verb asked for it", () =>
    withWebhooks(async (world) => {
      const rules = [ruleFor("configmaps", "*"), ruleFor("limitranges", "*")];
      await world.register("Validating", "look", [{ rules }]);
      const apply = { type: "application/apply-patch+yaml" };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } };
      const range = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "a" }, spec: { limits: [] } };

      const replies = [
        await world.api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, body, apply),
        await world.api.send(
          "PATCH",
          `${CONFIG_MAPS}/a?fieldManager=me`,
          { ...body, data: { a: "2" } },
          apply,
        ),
        await world.api.send(
          "PATCH",
          `${CONFIG_MAPS}/a`,
          { data: { b: "1" } },
          {
            type: "application/merge-patch+json",
          },
        ),
        await world.api.send("PUT", "/api/v1/namespaces/default/limitranges/a", range),
      ];

      expect(replies.map(({ code }) => code)).toEqual([201, 200, 200, 201]);
      expect(
        world.hooks.asked.map(({ request }) => [request.operation, request.name, request.options?.["kind"]]),
      ).toEqual([
        ["CREATE", "a", "CreateOptions"],
        ["UPDATE", "a", "UpdateOptions"],
        ["UPDATE", "a", "UpdateOptions"],
        ["CREATE", "a", "CreateOptions"],
      ]);
    }));

  test("is made in the older version for those that know no other", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "old", [
        {
          rules: [CREATED],
          admissionReviewVersions: ["v99", "v1beta1"],
          behaviour: addAfter("start", "added"),
        },
      ]);

      const made = await world.configMap("a", { start: "yes" });

      expect(world.hooks.asked[0]?.apiVersion).toBe("admission.k8s.io/v1beta1");
      expect(made.body["data"]).toEqual({ start: "yes", added: "yes" });
    }));

  test("of a scale, a binding or an eviction has that, and not the object below it", () =>
    withWebhooks(async (world) => {
      const spec = {
        replicas: 1,
        selector: { matchLabels: { app: "a" } },
        template: {
          metadata: { labels: { app: "a" } },
          spec: { containers: [{ name: "a", image: "example.com/a" }] },
        },
      };
      const deployments = "/apis/apps/v1/namespaces/default/deployments";
      await world.api.send("POST", deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec,
      });
      await world.pod("web");
      await world.register("Validating", "below", [
        {
          rules: [
            { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/scale", "pods/*"] },
          ],
          behaviour: ({ kind, object }) =>
            kind["kind"] === ("Scale" as unknown) && (object?.["spec"]?.["replicas"] as unknown) === 9
              ? { allowed: false, status: { message: "too many" } }
              : {},
        },
      ]);

      const merge = { type: "application/merge-patch+json" };
      const refused = await world.api.send(
        "PATCH",
        `${deployments}/a/scale`,
        { spec: { replicas: 9 } },
        merge,
      );
      const scaled = await world.api.send(
        "PATCH",
        `${deployments}/a/scale`,
        { spec: { replicas: 2 } },
        merge,
      );
      await world.api.send("POST", `${PODS}/web/binding`, {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "web" },
        target: { kind: "Node", name: "n" },
      });
      await world.api.send("POST", `${PODS}/web/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "web" },
      });

      expect(text(refused.body["message"])).toContain("too many");
      expect(scaled.code).toBe(200);
      const seen = world.hooks.asked.map(({ request }) => [
        request.operation,
        `${text(request.resource["resource"] as never)}/${request.subResource ?? ""}`,
        request.kind["kind"],
        request.object?.["kind"] ?? null,
        request.oldObject?.["kind"] ?? null,
      ]);
      expect(seen).toEqual([
        ["UPDATE", "deployments/scale", "Scale", "Scale", "Scale"],
        ["UPDATE", "deployments/scale", "Scale", "Scale", "Scale"],
        ["CREATE", "pods/binding", "Binding", "Binding", null],
        ["CREATE", "pods/eviction", "Eviction", "Eviction", null],
        ["DELETE", "pods/", "Pod", null, "Pod"],
      ]);
    }));

  test("is made of connections to a pod, which may be refused", () =>
    withWebhooks(async (world) => {
      await world.pod("web");
      await world.register("Validating", "connect", [
        {
          rules: [ruleFor("pods/*", "CONNECT")],
          behaviour: () => ({ allowed: false, status: { message: "no attaching" } }),
        },
      ]);

      const attach = await world.api.send("POST", `${PODS}/web/attach?container=main&stdin=true&tty=false`);
      const exec = await world.api.send("GET", `${PODS}/web/exec?command=ls&command=-l&stdout=1`);

      expect(refusal(attach)).toEqual([
        400,
        'admission webhook "hook0.connect.example.com" denied the request: no attaching',
      ]);
      expect(exec.code).toBe(400);
      expect(
        world.hooks.asked.map(({ request }) => [request.operation, request.object, request.options]),
      ).toEqual([
        ["CONNECT", { apiVersion: "v1", kind: "PodAttachOptions", stdin: true, container: "main" }, null],
        ["CONNECT", { apiVersion: "v1", kind: "PodExecOptions", stdout: true, command: ["ls", "-l"] }, null],
      ]);
    }));
});

describe("custom resources", () => {
  const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
  const RULE = {
    operations: ["CREATE", "UPDATE", "DELETE"],
    apiGroups: ["example.com"],
    apiVersions: ["v1"],
    resources: ["widgets"],
  };
  const widget = (apiVersion: string, data: object): object => ({
    apiVersion: `example.com/${apiVersion}`,
    kind: "Widget",
    metadata: { name: "a" },
    data,
  });
  const TEXTS = { start: { type: "string" }, stage1: { type: "string" }, bad: { type: "string" } };

  test("are refused when created, updated and deleted", () =>
    withWebhooks(async (world) => {
      await world.define([version("v1", TEXTS, true)]);
      await world.register("Validating", "widgets", [{ rules: [RULE], behaviour: denyBad }]);
      const made = await world.api.send("POST", WIDGETS, widget("v1", { start: "yes" }));
      const merge = { type: "application/merge-patch+json" };

      const created = await world.api.send("POST", WIDGETS, widget("v1", { bad: "yes" }));
      const updated = await world.api.send("PATCH", `${WIDGETS}/a`, { data: { bad: "yes" } }, merge);

      expect(made.code).toBe(201);
      expect(refusal(created)[1]).toContain(DENIED);
      expect(refusal(updated)[1]).toContain(DENIED);
      world.hooks.on("/widgets/0", () => ({ allowed: false, status: { message: "stays" } }));
      expect(refusal(await world.api.send("DELETE", `${WIDGETS}/a`))[1]).toContain("stays");
    }));

  test("are pruned after a webhook changed them", () =>
    withWebhooks(async (world) => {
      await world.define([version("v1", TEXTS, true)]);
      await world.register("Mutating", "widgets", [
        { rules: [RULE], behaviour: addAfter("start", "stage1") },
        { rules: [RULE], behaviour: addAfter("stage1", "stage2") },
      ]);

      const made = await world.api.send("POST", WIDGETS, widget("v1", { start: "yes" }));

      expect(made.body["data"]).toEqual({ start: "yes", stage1: "yes" });
    }));

  test("are shown in the version that a rule names, and the patch is for that", () =>
    withWebhooks(async (world) => {
      await world.define([version("v1", TEXTS, true), version("v2", TEXTS, false)]);
      await world.register("Mutating", "widgets", [
        { rules: [RULE], behaviour: addAfter("start", "stage1") },
      ]);
      await world.register("Validating", "exact", [{ rules: [RULE], matchPolicy: "Exact" }]);

      const place = "/apis/example.com/v2/namespaces/default/widgets";
      const made = await world.api.send("POST", place, widget("v2", { start: "yes" }));

      expect(made.body["apiVersion"]).toBe("example.com/v2");
      expect(made.body["data"]).toEqual({ start: "yes", stage1: "yes" });
      const [asked] = world.hooks.requests("/widgets/0");
      expect([asked?.resource["version"], asked?.kind["version"], asked?.object?.["apiVersion"]]).toEqual([
        "v1",
        "v1",
        "example.com/v1",
      ]);
      expect([asked?.requestResource["version"], asked?.requestKind["version"]]).toEqual(["v2", "v2"]);
      expect(world.hooks.requests("/exact/0")).toEqual([]);
    }));

  test("are changed also after another version became the stored one", () =>
    withWebhooks(async (world) => {
      await world.define([version("v1", TEXTS, true), version("v2", TEXTS, false)]);
      await world.register("Mutating", "widgets", [
        { rules: [{ ...RULE, apiVersions: ["*"] }], behaviour: addAfter("start", "stage1") },
      ]);
      await world.api.send("POST", WIDGETS, widget("v1", { start: "yes" }));
      const patch = { spec: { versions: [version("v1", TEXTS, false), version("v2", TEXTS, true)] } };
      const merge = { type: "application/merge-patch+json" };
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      expect((await world.api.send("PATCH", `${definitions}/widgets.example.com`, patch, merge)).code).toBe(
        200,
      );

      const changed = await world.api.send("PATCH", `${WIDGETS}/a`, { data: { bad: "no" } }, merge);

      expect(changed.body["data"]).toEqual({ start: "yes", stage1: "yes", bad: "no" });
    }));

  test("cannot be defined when a webhook refuses definitions", () =>
    withWebhooks(async (world) => {
      await world.register("Validating", "definitions", [
        {
          rules: [
            {
              operations: ["CREATE"],
              apiGroups: ["apiextensions.k8s.io"],
              apiVersions: ["*"],
              resources: ["customresourcedefinitions"],
            },
          ],
          behaviour: () => ({ allowed: false, status: { message: "no kinds here" } }),
        },
      ]);

      const made = await world.api.send(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        definition([version("v1", TEXTS, true)]),
      );

      expect(refusal(made)[1]).toContain("no kinds here");
    }));
});
