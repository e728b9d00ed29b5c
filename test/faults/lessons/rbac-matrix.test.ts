/**
 * Each verb alone, by every way of writing, for every resource: the authorizer refuses what the table does not allow and the store stays
 * unchanged; allowed requests pass. A request may need several verbs: creating an object by PUT or by apply takes `create` too.
 */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { incomplete } from "../../../src/api/object-fixture.ts";
import { isServedByDefault } from "../../../src/api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../../src/api/schema/resource-facts.ts";
import { prefixOf } from "../../../src/server/objects/versions.ts";
import { TestApi, text } from "../../api-harness.ts";
import type { Reply } from "../../api-harness.ts";
import { casesOf, STORED } from "../../conformance/kind-cases.ts";
import type { KindCase } from "../../conformance/kind-cases.ts";
import { custom, defineKind, made } from "./custom-kind.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

interface Tester {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Resources of the rule: all, or one subresource of all. */
  readonly resources: readonly string[];
}

const EVERYWHERE = ["*"];
const TESTERS: readonly Tester[] = [
  ...VERBS.map((verb) => ({ name: verb, verbs: [verb], resources: EVERYWHERE })),
  { name: "reader", verbs: ["get", "list", "watch"], resources: EVERYWHERE },
  { name: "update-and-create", verbs: ["update", "create"], resources: EVERYWHERE },
  { name: "patch-and-create", verbs: ["patch", "create"], resources: EVERYWHERE },
  { name: "all-but-create", verbs: VERBS.filter((verb) => verb !== "create"), resources: EVERYWHERE },
  { name: "status-only", verbs: VERBS, resources: ["*/status"] },
  { name: "nothing", verbs: [], resources: EVERYWHERE },
];

/** One way of writing, with the verbs that it takes on the resource or one of its subresources. */
interface Way {
  readonly method: string;
  readonly target: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly needs: readonly string[];
  readonly subresource?: string;
  /** Status code for a user with all verbs, where it is known. */
  readonly code?: number;
}

const PATCHES = [
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
];
const APPLY = "application/apply-patch+yaml";
const MANAGER = "fieldManager=test";
const DRY = "dryRun=All";

interface Target {
  readonly facts: Pick<ResourceFacts, "subresources">;
  readonly collection: string;
  readonly path: string;
  readonly object: object;
  readonly createsOnUpdate: boolean;
}

function mainWays(
  { collection, path, object, createsOnUpdate }: Target,
  state: "absent" | "present",
): readonly Way[] {
  const isAbsent = state === "absent";
  const update = isAbsent && createsOnUpdate ? ["update", "create"] : ["update"];
  const apply = isAbsent ? ["patch", "create"] : ["patch"];
  const made = isAbsent ? { code: 201 } : {};
  const updated = {
    method: "PUT",
    body: object,
    needs: update,
    ...(isAbsent && { code: createsOnUpdate ? 201 : 404 }),
  };
  const applied = { method: "PATCH", body: object, type: APPLY, needs: apply, ...made };
  const posted = { method: "POST", body: object, needs: ["create"], code: isAbsent ? 201 : 409 };
  const ways: readonly Way[] = [
    { ...posted, target: collection },
    { ...posted, target: `${collection}?${DRY}` },
    { ...posted, target: path, code: 405 },
    { ...updated, target: path },
    { ...updated, target: `${path}?${DRY}` },
    { ...updated, target: collection, needs: ["update"], code: 405 },
    ...PATCHES.flatMap((type) => patchWays(path, type)),
    { ...applied, target: collection, needs: ["patch"], code: 405 },
    { ...applied, target: `${path}?${MANAGER}` },
    { ...applied, target: `${path}?${MANAGER}&force=true` },
    { ...applied, target: `${path}?${MANAGER}&${DRY}` },
    { method: "DELETE", target: isAbsent ? path : `${path}?${DRY}`, needs: ["delete"] },
    { method: "DELETE", target: `${collection}?${DRY}`, needs: ["deletecollection"] },
    { method: "OPTIONS", target: path, needs: ["any other"] },
    { method: "PROPFIND", target: collection, needs: ["any other"] },
  ];
  return ways;
}

function patchWays(path: string, type: string): readonly Way[] {
  const body = type.includes("json-patch") ? [] : {};
  return ["", `?${DRY}`].map((query) => ({
    method: "PATCH",
    target: path + query,
    body,
    type,
    needs: ["patch"],
  }));
}

const INTO_CONTAINERS = new Set(["exec", "attach", "portforward"]);

/** No subresource creates an object by itself. */
function subresourceWays({ facts, path, object }: Target): readonly Way[] {
  return facts.subresources.flatMap(({ name: subresource }) => {
    const target = `${path}/${subresource}`;
    const get = INTO_CONTAINERS.has(subresource) ? ["get", "create"] : ["get"];
    return [
      { method: "GET", target, needs: get, subresource },
      { method: "POST", target, body: {}, needs: ["create"], subresource },
      { method: "PUT", target, body: object, needs: ["update"], subresource },
      ...PATCHES.map((type) => ({ method: "PATCH", target, body: {}, type, needs: ["patch"], subresource })),
      {
        method: "PATCH",
        target: `${target}?${MANAGER}`,
        body: object,
        type: APPLY,
        needs: ["patch"],
        subresource,
      },
      { method: "DELETE", target, needs: ["delete"], subresource },
      { method: "OPTIONS", target, needs: ["any other"], subresource },
    ];
  });
}

/** First missing verb. */
function missing({ verbs, resources }: Tester, { needs, subresource = "" }: Way): string | undefined {
  if (resources !== EVERYWHERE && !resources.includes(`*/${subresource}`)) return needs[0];
  return needs.find((verb) => !verbs.includes(verb));
}

async function started(options: Parameters<typeof TestApi.start>[1]): Promise<TestApi> {
  const api = await TestApi.start(["default"], options);
  // A periodic task of the server would create it.
  const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
  await made(api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr));
  for (const { name, verbs, resources } of TESTERS) {
    // The check against privilege escalation is not under test here.
    const rules = [{ apiGroups: [GROUP], resources: ["*"], verbs: ["bind", "escalate"] }];
    if (verbs.length > 0) rules.push({ apiGroups: ["*"], resources: [...resources], verbs: [...verbs] });
    const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name };
    const subjects = [{ apiGroup: GROUP, kind: "User", name }];
    await made(api.send("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules }));
    await made(api.send("POST", `${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }));
  }
  return api;
}

function send(api: TestApi, { name }: Tester, { method, target, body, type }: Way): Promise<Reply> {
  const as = { user: name, groups: ["system:authenticated"] };
  return api.send(method, target, body, { as, ...(type !== undefined && { type }) });
}

const REFUSAL = /: User "[^"]*" cannot (\S*) resource /;

/** Verb that the authorizer found missing; undefined if it let the request pass. */
function refusedVerb({ code, body }: Reply): string | undefined {
  return code === 403 ? REFUSAL.exec(text(body["message"]))?.[1] : undefined;
}

/** Requests whose outcome differs from the table. With a key, the object there is removed after each request. */
async function surprises(api: TestApi, ways: readonly Way[], key?: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const tester of TESTERS) {
    for (const way of ways) {
      const before = api.store.view.revision;
      const reply = await send(api, tester, way);
      const expected = missing(tester, way)?.replace("any other", "");
      const isThere = key !== undefined && api.store.view.get(key) !== undefined;
      const outcome = {
        refused: refusedVerb(reply),
        // A refused request leaves nothing behind, and no subresource creates an object.
        isSilent: expected === undefined || api.store.view.revision === before,
        isMade: isThere && way.subresource !== undefined,
        code: expected === undefined && way.code !== undefined ? reply.code : way.code,
      };
      const wanted = { refused: expected, isSilent: true, isMade: false, code: way.code };
      if (!isDeepStrictEqual(outcome, wanted))
        found.push({ tester: tester.name, ...way, outcome, message: text(reply.body["message"]) });
      if (isThere) await api.store.write({ compare: [], changes: [{ type: "delete", key }] });
    }
  }
  return found;
}

function targetOf(kind: KindCase): Target {
  return { ...kind, createsOnUpdate: kind.facts.storage?.createsOnUpdate === true };
}

function keyFor({ facts, name }: KindCase): string {
  const { storage } = facts;
  if (storage === undefined) throw new Error(`${facts.name} are not stored`);
  return prefixOf({ storage }, facts.namespaced ? "default" : "") + name;
}

const KINDS = casesOf(STORED.filter(({ isDefault }) => isDefault));

describe.each(KINDS)("%s", (_title, kind) => {
  const target = targetOf(kind);

  test("that is absent is created only with the verb create, by every way of writing", async () => {
    await using api = await started({ isServed: isServedByDefault, leavesDefinitions: true });

    const ways = [...mainWays(target, "absent"), ...subresourceWays(target)];

    expect(await surprises(api, ways, keyFor(kind))).toEqual([]);
  });

  test("that is present is written only with the verb for it", async () => {
    await using api = await started({ isServed: isServedByDefault, leavesDefinitions: true });
    expect((await api.send("POST", kind.collection, kind.object)).code).toBe(201);

    expect(await surprises(api, mainWays(target, "present"))).toEqual([]);
  });
});

test("a custom resource is created only with the verb create, by every way of writing", async () => {
  await using api = await started({});
  await defineKind(api, { plural: "things", more: { subresources: { status: {} } } });
  const collection = "/apis/example.com/v1/namespaces/default/things";
  const facts = incomplete<ResourceFacts>({ subresources: [{ name: "status" }] });
  const target = {
    facts,
    collection,
    path: `${collection}/a`,
    object: custom("things", "a"),
    createsOnUpdate: false,
  };

  const ways = [...mainWays(target, "absent"), ...subresourceWays(target)];

  expect(await surprises(api, ways, "/registry/example.com/things/default/a")).toEqual([]);
});
