/** Authorization through the API: matching, effect on the next request after a change, and known bypasses. */
import { describe, expect, test } from "vitest";
import { hasCondition, TestApi, text, until } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;
const GROUP = "rbac.authorization.k8s.io";
const PODS = "/api/v1/namespaces/default/pods";

const BOB = { as: { user: "bob", groups: ["dev"] } };
const READ_PODS = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] };
const MANAGE_ROLES = {
  apiGroups: [GROUP],
  resources: ["*"],
  verbs: ["get", "create", "update", "patch", "delete"],
};

function role(name: string, rules: readonly object[], kind = "Role"): object {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name }, rules };
}

function binding(name: string, to: string, kind = "RoleBinding"): object {
  const [roleKind, roleName] = to.split("/");
  return {
    apiVersion: `${GROUP}/v1`,
    kind,
    metadata: { name },
    roleRef: { apiGroup: GROUP, kind: roleKind, name: roleName },
    subjects: [{ apiGroup: GROUP, kind: "User", name: "bob" }],
  };
}

async function made(reply: Promise<Reply>): Promise<Reply> {
  const { code, body, ...rest } = await reply;
  expect(text(body["message"])).toBe("");
  return { code, body, ...rest };
}

/** Bob may do this in the default namespace. */
async function allow(api: TestApi, name: string, ...rules: readonly object[]): Promise<void> {
  await made(api.send("POST", ROLES, role(name, rules)));
  await made(api.send("POST", BINDINGS, binding(name, `Role/${name}`)));
}

/** Bob may do this everywhere. */
async function allowEverywhere(api: TestApi, name: string, ...rules: readonly object[]): Promise<void> {
  await made(api.send("POST", CLUSTER_ROLES, role(name, rules, "ClusterRole")));
  await made(api.send("POST", CLUSTER_BINDINGS, binding(name, `ClusterRole/${name}`, "ClusterRoleBinding")));
}

function messageOf({ body }: Reply): string {
  return text(body["message"]);
}

describe("a user without roles", () => {
  test("is told what they may not do, in kubectl's words", async () => {
    await using api = await TestApi.start();
    const refused = async (method: string, target: string): Promise<string> =>
      messageOf(await api.send(method, target, method === "POST" ? {} : undefined, BOB));

    expect(await refused("GET", PODS)).toBe(
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
    );
    expect(await refused("GET", `${PODS}/web/log`)).toBe(
      'pods "web" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "default"',
    );
    expect(await refused("GET", `${PODS}?watch=1`)).toContain('cannot watch resource "pods"');
    expect(await refused("DELETE", PODS)).toContain('cannot deletecollection resource "pods"');
    expect(await refused("GET", "/api/v1/nodes")).toBe(
      'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    expect(await refused("GET", "/apis/apps/v1/namespaces/default/deployments/a")).toBe(
      'deployments.apps "a" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" in the namespace "default"',
    );
    expect(await refused("GET", "/metrics")).toBe('forbidden: User "bob" cannot get path "/metrics"');
  });
});

describe("a role binding", () => {
  test("counts from the next request on, until the next after it is gone", async () => {
    await using api = await TestApi.start();

    expect((await api.send("GET", PODS, undefined, BOB)).code).toBe(403);
    await allow(api, "reader", READ_PODS);
    expect((await api.send("GET", PODS, undefined, BOB)).code).toBe(200);
    await api.send("DELETE", `${BINDINGS}/reader`);
    expect((await api.send("GET", PODS, undefined, BOB)).code).toBe(403);
  });

  test("in a namespace is good for that namespace, and for nothing of the cluster", async () => {
    await using api = await TestApi.start(["default", "other"]);
    await allow(api, "all", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
    const code = async (target: string): Promise<number> =>
      (await api.send("GET", target, undefined, BOB)).code;

    expect(await code(PODS)).toBe(200);
    expect(await code("/api/v1/namespaces/default")).toBe(200);
    expect(await code("/api/v1/namespaces/other")).toBe(403);
    expect(await code("/api/v1/namespaces/other/pods")).toBe(403);
    expect(await code("/api/v1/pods")).toBe(403);
    expect(await code("/api/v1/nodes")).toBe(403);
    // Cluster-scoped resources are not in a namespace, whatever the path says.
    expect(await code("/api/v1/namespaces/default/nodes")).toBe(404);
    expect(await code("/api/v1/namespaces/default/namespaces/other")).toBe(404);
    expect(await code("/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles")).toBe(404);
  });
});

describe("names of objects", () => {
  test("allow no list and no deletion of other objects", async () => {
    await using api = await TestApi.start();
    const verbs = ["get", "list", "watch", "delete", "deletecollection"];
    await allow(api, "one", { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs });
    const maps = "/api/v1/namespaces/default/configmaps";
    const code = async (method: string, target: string): Promise<number> =>
      (await api.send(method, target, undefined, BOB)).code;

    expect(await code("GET", maps)).toBe(403);
    expect(await code("GET", `${maps}?fieldSelector=metadata.name%3Dmine`)).toBe(200);
    expect(await code("GET", `${maps}?fieldSelector=metadata.name%3Dtheirs`)).toBe(403);
    expect(await code("GET", `${maps}?fieldSelector=metadata.name!%3Dmine`)).toBe(403);
    expect(await code("GET", `${maps}?fieldSelector=metadata.name%3Dmine%2Fx`)).toBe(403);
    expect(await code("DELETE", `${maps}?fieldSelector=metadata.name%3Dmine`)).toBe(403);
    expect(await code("GET", `${maps}/theirs`)).toBe(403);
    expect(await code("GET", `${maps}/mine`)).toBe(404);
  });
});

describe("a custom resource of the cluster", () => {
  test("is not reached through a namespace", async () => {
    await using api = await TestApi.start();
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await made(
      api.send("POST", definitions, {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Cluster",
          names: { plural: "widgets", singular: "widget", kind: "Widget" },
          versions: [
            { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
          ],
        },
      }),
    );
    await until(api, `${definitions}/widgets.example.com`, hasCondition("Established"));
    await allow(api, "all", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };
    await made(api.send("POST", "/apis/example.com/v1/widgets", widget));

    const codes = [];
    for (const method of ["GET", "DELETE", "PATCH", "PUT"]) {
      const target = "/apis/example.com/v1/namespaces/default/widgets/w";
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      codes.push((await api.send(method, target, method === "GET" ? undefined : {}, { ...BOB, type })).code);
    }

    expect(codes).toEqual([404, 404, 404, 404]);
    expect((await api.send("GET", "/apis/example.com/v1/widgets/w", undefined, BOB)).code).toBe(403);
    expect((await api.send("GET", "/apis/example.com/v1/widgets/w")).code).toBe(200);
  });
});

describe("streams into containers", () => {
  test("need the right to create, by whatever method they are opened", async () => {
    await using api = await TestApi.start();
    await allow(api, "look", { apiGroups: [""], resources: ["pods/exec", "pods/log"], verbs: ["get"] });

    expect(messageOf(await api.send("GET", `${PODS}/web/exec?command=ls`, undefined, BOB))).toContain(
      'cannot create resource "pods/exec"',
    );
    expect((await api.send("GET", `${PODS}/web/log`, undefined, BOB)).code).not.toBe(403);
  });
});

const SECRETS = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };
const LACKING = [
  'user "bob" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
  '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
].join("\n");

describe("a user who manages roles", () => {
  async function start(): Promise<TestApi> {
    const api = await TestApi.start();
    await allow(api, "manager", MANAGE_ROLES, READ_PODS);
    return api;
  }

  test("gives what they hold", async () => {
    await using api = await start();

    expect((await api.send("POST", ROLES, role("mine", [READ_PODS]), BOB)).code).toBe(201);
    expect((await api.send("POST", BINDINGS, binding("mine", "Role/mine"), BOB)).code).toBe(201);
  });

  test("gives nothing more, by whatever request", async () => {
    await using api = await start();
    await made(api.send("POST", ROLES, role("mine", [READ_PODS]), BOB));
    const refusal = `roles.rbac.authorization.k8s.io "mine" is forbidden: ${LACKING}`;
    const applied = { ...role("mine", [SECRETS]) };
    const merge = { ...BOB, type: "application/merge-patch+json" };
    const apply = { ...BOB, type: "application/apply-patch+yaml" };

    const created = await api.send("POST", ROLES, role("new", [SECRETS]), BOB);
    const updated = await api.send("PUT", `${ROLES}/mine`, role("mine", [SECRETS]), BOB);
    const patched = await api.send("PATCH", `${ROLES}/mine`, { rules: [SECRETS] }, merge);
    const forced = await api.send("PATCH", `${ROLES}/mine?fieldManager=x&force=true`, applied, apply);
    const born = await api.send("PATCH", `${ROLES}/born?fieldManager=x`, role("born", [SECRETS]), apply);
    const dry = await api.send("POST", `${ROLES}?dryRun=All`, role("new", [SECRETS]), BOB);

    expect(messageOf(created)).toBe(`roles.rbac.authorization.k8s.io "new" is forbidden: ${LACKING}`);
    expect([updated, patched, forced].map(messageOf)).toEqual([refusal, refusal, refusal]);
    expect(messageOf(born)).toBe(`roles.rbac.authorization.k8s.io "born" is forbidden: ${LACKING}`);
    expect([created, updated, patched, forced, born, dry].map(({ code }) => code)).toEqual(
      Array(6).fill(403),
    );
  });

  test("binds no role that holds more, nor one that is not there", async () => {
    await using api = await start();
    await made(api.send("POST", ROLES, role("secrets", [SECRETS])));

    expect(messageOf(await api.send("POST", BINDINGS, binding("b", "Role/secrets"), BOB))).toBe(
      `rolebindings.rbac.authorization.k8s.io "b" is forbidden: ${LACKING}`,
    );
    expect(messageOf(await api.send("POST", BINDINGS, binding("b", "Role/none"), BOB))).toBe(
      'roles.rbac.authorization.k8s.io "none" not found',
    );
  });

  test("may do both where the verbs bind and escalate say so", async () => {
    await using api = await start();
    await made(api.send("POST", ROLES, role("secrets", [SECRETS])));
    const bind = { apiGroups: [GROUP], resources: ["roles"], verbs: ["bind"], resourceNames: ["secrets"] };
    await allow(api, "exempt", bind, { apiGroups: [GROUP], resources: ["roles"], verbs: ["escalate"] });

    expect((await api.send("POST", BINDINGS, binding("b", "Role/secrets"), BOB)).code).toBe(201);
    expect((await api.send("POST", ROLES, role("more", [SECRETS]), BOB)).code).toBe(201);
  });

  test("may escalate a role by its name when they apply it, even one that is not there", async () => {
    await using api = await start();
    const escalate = {
      apiGroups: [GROUP],
      resources: ["roles"],
      verbs: ["escalate"],
      resourceNames: ["more"],
    };
    await allow(api, "exempt", escalate);
    const apply = { ...BOB, type: "application/apply-patch+yaml" };
    const send = (name: string): Promise<Reply> =>
      api.send("PATCH", `${ROLES}/${name}?fieldManager=bob`, role(name, [SECRETS]), apply);

    expect((await send("other")).code).toBe(403);
    expect((await send("more")).code).toBe(201);
  });

  test("cannot have a role filled by others", async () => {
    await using api = await TestApi.start();
    await allowEverywhere(api, "manager", MANAGE_ROLES, READ_PODS);
    const gathering = { ...role("g", [], "ClusterRole"), aggregationRule: { clusterRoleSelectors: [{}] } };
    const refusal =
      'clusterroles.rbac.authorization.k8s.io "g" is forbidden: must have cluster-admin privileges to use the aggregationRule';

    expect(messageOf(await api.send("POST", CLUSTER_ROLES, gathering, BOB))).toBe(refusal);
    await made(api.send("POST", CLUSTER_ROLES, role("g", [READ_PODS], "ClusterRole"), BOB));
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
    const merge = { ...BOB, type: "application/merge-patch+json" };
    expect(messageOf(await api.send("PATCH", `${CLUSTER_ROLES}/g`, { aggregationRule }, merge))).toBe(
      refusal,
    );
  });

  test("cannot label a role into one that gathers by labels unless they hold what it says", async () => {
    await using api = await TestApi.start();
    await allowEverywhere(api, "manager", MANAGE_ROLES);
    const labelled = {
      ...role("sneaky", [SECRETS], "ClusterRole"),
      metadata: { name: "sneaky", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    };

    expect((await api.send("POST", CLUSTER_ROLES, labelled, BOB)).code).toBe(403);
  });

  test("may still take away owners and finalizers, so that things can go", async () => {
    await using api = await start();
    const held = { ...role("held", [SECRETS]), metadata: { name: "held", finalizers: ["example.com/x"] } };
    await made(api.send("POST", ROLES, held));

    const merge = { ...BOB, type: "application/merge-patch+json" };
    const freed = await api.send("PATCH", `${ROLES}/held`, { metadata: { finalizers: [] } }, merge);
    const labelled = await api.send("PATCH", `${ROLES}/held`, { metadata: { labels: { a: "b" } } }, merge);

    expect([freed.code, labelled.code]).toEqual([200, 403]);
  });
});

describe("reviews", () => {
  test("answer by the same rules as requests", async () => {
    await using api = await TestApi.start();
    await allow(api, "reader", READ_PODS);
    const review = async (user: string, verb: string, more: object = {}): Promise<unknown> => {
      const { body } = await api.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user, resourceAttributes: { namespace: "default", verb, resource: "pods", ...more } },
      });
      return body["status"];
    };

    expect(await review("bob", "get")).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "bob"',
    });
    expect(await review("bob", "delete")).toEqual({ allowed: false });
    expect(await review("alice", "get")).toEqual({ allowed: false });
    expect(await review("bob", "list", { fieldSelector: { rawSelector: "spec.nodeName=a=b" } })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "bob"',
      evaluationError: 'couldn\'t parse the field selector "spec.nodeName=a=b"',
    });
    const node = {
      user: "system:node:n1",
      groups: ["system:nodes"],
      resourceAttributes: {
        verb: "list",
        resource: "pods",
        fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n1"] }] },
      },
    };
    const reply = await api.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: node,
    });
    expect(reply.body["status"]).toEqual({ allowed: true });
  });

  test("list the rules of the caller", async () => {
    await using api = await TestApi.start();
    await allow(api, "reader", READ_PODS);
    await allowEverywhere(api, "reviewer", {
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectrulesreviews"],
      verbs: ["create"],
    });

    const { body } = await api.send(
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace: "default" },
      },
      BOB,
    );

    expect(body["status"]).toEqual({
      incomplete: false,
      nonResourceRules: [],
      resourceRules: [
        { apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectrulesreviews"], verbs: ["create"] },
        READ_PODS,
      ],
    });
  });
});

describe("an object that PUT or apply would create", () => {
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const APPLY = { ...BOB, type: "application/apply-patch+yaml" };
  const LEASE_RULE = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  const SECRET = {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/service-account-token",
    metadata: { name: "stolen", annotations: { "kubernetes.io/service-account.name": "admin" } },
  };

  test("is refused in the words for a creation, and is not there", async () => {
    await using api = await TestApi.start();
    const named = { resourceNames: ["stolen"], verbs: ["get", "patch", "update"] };
    await allow(
      api,
      "one",
      { apiGroups: [""], resources: ["secrets"], ...named },
      { ...LEASE_RULE, ...named },
    );
    const target = "/api/v1/namespaces/default/secrets/stolen";
    const lease = { metadata: { name: "stolen" }, spec: {} };

    const applied = await api.send("PATCH", `${target}?fieldManager=x&force=true`, SECRET, APPLY);
    const put = await api.send("PUT", `${LEASES}/stolen`, lease, BOB);

    expect([applied.code, messageOf(applied)]).toEqual([
      403,
      'secrets "stolen" is forbidden: User "bob" cannot create resource "secrets" in API group "" in the namespace "default"',
    ]);
    expect([put.code, messageOf(put)]).toEqual([
      403,
      'leases.coordination.k8s.io "stolen" is forbidden: User "bob" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
    ]);
    expect((await api.send("GET", target)).code).toBe(404);
    expect((await api.send("GET", `${LEASES}/stolen`)).code).toBe(404);
  });

  test("may be named by the rule that allows it, other than one that POST creates", async () => {
    await using api = await TestApi.start();
    const verbs = ["create", "update", "patch"];
    await allow(api, "one", { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs });
    const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    const apply = (name: string): Promise<Reply> =>
      api.send("PATCH", `${MAPS}/${name}?fieldManager=x`, map(name), APPLY);

    expect((await api.send("POST", MAPS, map("mine"), BOB)).code).toBe(403);
    expect((await api.send("POST", `${MAPS}/mine`, map("theirs"), BOB)).code).toBe(405);
    expect((await apply("theirs")).code).toBe(403);
    expect((await apply("mine")).code).toBe(201);
  });

  test("is of the cluster where it is a namespace: a role within it does not count", async () => {
    await using api = await TestApi.start();
    const rules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "patch", "create"] }];
    await api.send("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
    const there = `${RBAC}/namespaces/other`;
    await made(api.send("POST", `${there}/roles`, role("own", rules)));
    await made(api.send("POST", `${there}/rolebindings`, binding("own", "Role/own")));
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } };
    // Roles left behind by an earlier namespace of this name.
    await api.store.write({ compare: [], changes: [{ type: "delete", key: "/registry/namespaces/other" }] });

    const applied = await api.send("PATCH", "/api/v1/namespaces/other?fieldManager=x", namespace, APPLY);

    expect([applied.code, messageOf(applied)]).toEqual([
      403,
      'namespaces "other" is forbidden: User "bob" cannot create resource "namespaces" in API group "" at the cluster scope',
    ]);
  });
});
