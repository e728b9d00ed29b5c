/** Choice of webhooks for a request: by configuration, labels and match conditions. */
import { describe, expect, test } from "vitest";
import { text, listOf } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";
import { CONFIG_MAPS, CONFIGURATIONS, refusal, withWebhooks } from "./webhook-fixture.ts";
import { ANYTHING, configuration, ruleFor } from "./webhook-server.ts";
import type { Behaviour } from "./webhook-server.ts";

const CREATED = ruleFor("configmaps", "CREATE");
const MERGE = { type: "application/merge-patch+json" };

const mark: Behaviour = () => ({ patch: [{ op: "add", path: "/data", value: { marked: "yes" } }] });
const deny: Behaviour = () => ({ allowed: false, status: { message: "no" } });

describe("configurations", () => {
  test("are in force with the very next request, and no longer when they are gone", () =>
    withWebhooks(async (world) => {
      for (let n = 0; n < 10; n++)
        await world.register("Validating", `c${String(n)}`, [{ rules: [CREATED] }]);
      world.hooks.on("/c7/0", deny);
      const listed = await world.api.send(
        "GET",
        `${world.place("Validating")}?labelSelector=suite%3Dwebhooks`,
      );

      const refused = await world.configMap("a");
      await world.api.send("DELETE", `${world.place("Validating")}?labelSelector=suite%3Dwebhooks`);
      const made = await world.configMap("a");

      expect(listed.body["items"]).toHaveLength(10);
      expect(refused.code).toBe(400);
      expect(made.code).toBe(201);
    }));

  test("mean what their rules say now", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "m", [{ rules: [CREATED], behaviour: mark }]);
      const place = `${world.place("Mutating")}/m`;
      const operations = (value: readonly string[]): Promise<unknown> =>
        world.api.send("PATCH", place, [{ op: "replace", path: "/webhooks/0/rules/0/operations", value }], {
          type: "application/json-patch+json",
        });

      await operations(["UPDATE"]);
      const without = await world.configMap("a");
      await operations(["CREATE"]);
      const marked = await world.configMap("b");

      expect(without.body["data"]).toBeUndefined();
      expect(marked.body["data"]).toEqual({ marked: "yes" });
    }));

  test("are themselves never asked about, so that they can be repaired", () =>
    withWebhooks(async (world) => {
      await world.register("Mutating", "all", [
        {
          rules: [ANYTHING],
          behaviour: () => ({ patch: [{ op: "add", path: "/metadata/labels/changed", value: "yes" }] }),
        },
      ]);
      await world.register("Validating", "all", [{ rules: [ANYTHING], behaviour: deny }]);

      const body = configuration("Validating", "new", []);
      const made = await world.api.send("POST", world.place("Validating"), body);
      const gone = await world.api.send("DELETE", `${world.place("Validating")}/all`);

      expect(made.code).toBe(201);
      expect(made.body["metadata"]?.["labels"]).toEqual({ suite: "webhooks" });
      expect(gone.code).toBe(200);
      expect(world.hooks.asked).toEqual([]);
    }));

  test("are asked about reviews, which are never stored", () =>
    withWebhooks(async (world) => {
      const group = "authorization.k8s.io";
      const resources = ["subjectaccessreviews", "localsubjectaccessreviews"];
      const rule = { operations: ["CREATE"], apiGroups: [group], apiVersions: ["v1"], resources };
      const asOther: Behaviour = () => ({
        patch: [{ op: "replace", path: "/spec/user", value: "somebody-else" }],
      });
      await world.register("Mutating", "m", [{ rules: [rule], behaviour: asOther }]);
      await world.register("Validating", "v", [
        { rules: [{ ...rule, resources: ["localsubjectaccessreviews"] }], behaviour: deny },
      ]);
      const ask = (place: string, kind: string, resourceAttributes: object): Promise<Reply> =>
        world.api.send("POST", `/apis/${group}/v1/${place}`, {
          apiVersion: `${group}/v1`,
          kind,
          spec: {
            user: "alice",
            resourceAttributes: { verb: "get", resource: "pods", ...resourceAttributes },
          },
        });

      const changed = await ask("subjectaccessreviews", "SubjectAccessReview", {});
      const place = "namespaces/not-there/localsubjectaccessreviews";
      const denied = await ask(place, "LocalSubjectAccessReview", { namespace: "not-there" });

      expect(changed.code).toBe(201);
      expect(changed.body["spec"]).toMatchObject({ user: "somebody-else" });
      expect(denied.code).toBe(400);
      expect(text(denied.body["message"])).toContain("denied the request: no");
    }));

  test("are asked about bindings under the name by which they were sent", () =>
    withWebhooks(async (world) => {
      const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["bindings"] };
      await world.register("Validating", "v", [{ rules: [rule], behaviour: deny }]);
      await world.pod("p");
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p" },
        target: { kind: "Node", name: "n1" },
      };

      const general = await world.api.send("POST", "/api/v1/namespaces/default/bindings", binding);
      const own = await world.api.send("POST", "/api/v1/namespaces/default/pods/p/binding", binding);

      expect([general.code, own.code]).toEqual([400, 201]);
    }));

  test("stand in the discovery documents", () =>
    withWebhooks(async (world) => {
      const { body } = await world.api.send("GET", CONFIGURATIONS);

      const names = listOf<{ name: string }>(body["resources"]).map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]),
      );
    }));
});

describe("selectors", () => {
  test("exempt namespaces by their labels, and what is in no namespace never", () =>
    withWebhooks(async (world) => {
      const exempt = { key: "exempt", operator: "DoesNotExist" };
      await world.api.send(
        "PATCH",
        "/api/v1/namespaces/other",
        { metadata: { labels: { exempt: "yes" } } },
        MERGE,
      );
      await world.register("Validating", "v", [
        { rules: [ANYTHING], namespaceSelector: { matchExpressions: [exempt] }, behaviour: deny },
      ]);
      const named = (name: string, labels: object): object => ({
        apiVersion: "v1",
        metadata: { name, labels },
      });

      const replies = [
        await world.configMap("a"),
        await world.configMap("a", {}, "other"),
        await world.api.send("POST", "/api/v1/namespaces", { kind: "Namespace", ...named("x", {}) }),
        await world.api.send("POST", "/api/v1/namespaces", {
          kind: "Namespace",
          ...named("y", { exempt: "yes" }),
        }),
        await world.api.send("POST", "/api/v1/nodes", { kind: "Node", ...named("n", { exempt: "yes" }) }),
        await world.api.send("DELETE", "/api/v1/namespaces/other"),
      ];

      expect(replies.map(({ code }) => code)).toEqual([400, 201, 400, 201, 400, 200]);
    }));

  test("look at the old object and the new one", () =>
    withWebhooks(async (world) => {
      await world.register("Validating", "v", [
        {
          rules: [ruleFor("configmaps", "*")],
          objectSelector: { matchLabels: { watched: "yes" } },
        },
      ]);
      const label = (labels: object): Promise<unknown> =>
        world.api.send("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels } }, MERGE);

      await world.configMap("a");
      await label({ watched: "yes" });
      await label({ watched: "no" });
      await label({ watched: null });
      await world.api.send("DELETE", `${CONFIG_MAPS}/a`);

      expect(world.hooks.asked.map(({ request }) => request.operation)).toEqual(["UPDATE", "UPDATE"]);
    }));

  test("find other versions of what a rule names, unless it says exactly that", () =>
    withWebhooks(async (world) => {
      const rule = {
        operations: ["CREATE"],
        apiGroups: ["autoscaling"],
        apiVersions: ["v1"],
        resources: ["horizontalpodautoscalers"],
      };
      await world.register("Validating", "v", [{ rules: [rule] }, { rules: [rule], matchPolicy: "Exact" }]);
      const metrics = [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ];

      const made = await world.api.send(
        "POST",
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
        {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "a" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
            maxReplicas: 3,
            metrics,
          },
        },
      );

      expect(made.code).toBe(201);
      expect(world.hooks.asked.map(({ path }) => path)).toEqual(["/v/0"]);
      const [asked] = world.hooks.requests("/v/0");
      expect(asked?.object).toMatchObject({
        apiVersion: "autoscaling/v1",
        spec: { targetCPUUtilizationPercentage: 50 },
      });
      expect(asked?.requestResource["version"]).toBe("v2");
    }));
});

describe("match conditions", () => {
  test("keep a webhook from being asked about some objects", () =>
    withWebhooks(async (world) => {
      const matchConditions = [{ name: "skip", expression: "object.metadata.name != 'skip-me'" }];
      await world.register("Mutating", "m", [{ rules: [CREATED], matchConditions, behaviour: mark }]);

      const skipped = await world.configMap("skip-me");
      const marked = await world.configMap("another");

      expect(skipped.body["data"]).toBeUndefined();
      expect(marked.body["data"]).toEqual({ marked: "yes" });
    }));

  test("know the request, the old object and who may do what", () =>
    withWebhooks(async (world) => {
      const conditions = [
        "request.operation == 'UPDATE' && request.namespace == 'default' && !request.dryRun",
        "request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'",
        "request.userInfo.groups.exists(g, g == 'system:masters')",
        "oldObject.data.a == '1' && object.data.a == '2'",
        "request.options.fieldManager == 'me'",
        "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
        "authorizer.requestResource.check('update').allowed()",
      ];
      const matchConditions = conditions.map((expression, at) => ({ name: `c${String(at)}`, expression }));
      await world.register("Validating", "v", [
        { rules: [ruleFor("configmaps", "*")], matchConditions, behaviour: deny },
      ]);
      await world.configMap("a", { a: "1" });

      const changed = { data: { a: "2" } };
      const refused = await world.api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, changed, MERGE);
      const made = await world.api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=you`, changed, MERGE);

      expect(refusal(refused)).toEqual([
        400,
        'admission webhook "hook0.v.example.com" denied the request: no',
      ]);
      expect(made.code).toBe(200);
    }));

  test("that cannot be evaluated refuse the request, unless failures are ignored or another one decides", () =>
    withWebhooks(async (world) => {
      const broken = { name: "broken", expression: "object.data.none == 'x'" };
      const never = { name: "never", expression: "false" };
      await world.register("Validating", "ignore", [
        { rules: [CREATED], matchConditions: [broken], failurePolicy: "Ignore", behaviour: deny },
        { rules: [CREATED], matchConditions: [broken, never], behaviour: deny },
      ]);
      const made = await world.configMap("a", { some: "data" });
      await world.register("Validating", "fail", [{ rules: [CREATED], matchConditions: [broken] }]);

      const refused = await world.configMap("b", { some: "data" });

      expect(made.code).toBe(201);
      expect(refusal(refused)).toEqual([
        403,
        `configmaps "b" is forbidden: expression 'object.data.none == 'x'' resulted in error: no such key: none`,
      ]);
      expect(world.hooks.asked).toEqual([]);
    }));

  test("that would take too long are not evaluated to their end", () =>
    withWebhooks(async (world) => {
      const list = `[${Array.from({ length: 100 }, () => "0").join()}]`;
      const expression = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, true))))`;
      await world.register("Validating", "slow", [
        { rules: [CREATED], matchConditions: [{ name: "slow", expression }] },
      ]);

      const [code, message] = refusal(await world.configMap("a"));

      expect(code).toBe(403);
      expect(message).toContain("cost");
    }));

  test.each([
    ["is no expression", "object.metadata.name ==", "compilation failed"],
    ["names what is not there", "namespaceObject.metadata.name == 'a'", "compilation failed"],
    ["says neither yes nor no", "'yes'", "must evaluate to bool"],
  ])("of which one %s are refused with the configuration", (_, expression, told) =>
    withWebhooks(async (world) => {
      const hook = { clientConfig: world.clientConfig("/"), matchConditions: [{ name: "c", expression }] };
      for (const type of ["Mutating", "Validating"] as const) {
        const reply = await world.api.send("POST", world.place(type), configuration(type, "c", [hook]));

        expect(reply.code).toBe(422);
        expect(text(reply.body["message"])).toContain(
          `webhooks[0].matchConditions[0].expression: Invalid value`,
        );
        expect(text(reply.body["message"])).toContain(told);
      }
    }),
  );

  test("can be changed", () =>
    withWebhooks(async (world) => {
      const before = [{ name: "a", expression: "true" }];
      const after = [{ name: "b", expression: "object.metadata.name == 'x'" }];
      await world.register("Mutating", "m", [{ rules: [CREATED], matchConditions: before }]);

      await world.api.send(
        "PATCH",
        `${world.place("Mutating")}/m`,
        [{ op: "replace", path: "/webhooks/0/matchConditions", value: after }],
        { type: "application/json-patch+json" },
      );

      const { body } = await world.api.send("GET", `${world.place("Mutating")}/m`);
      expect(listOf<{ matchConditions: unknown }>(body["webhooks"])[0]?.matchConditions).toEqual(after);
    }));
});
