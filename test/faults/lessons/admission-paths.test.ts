/**
 * CVE-2016-1905, CVE-2021-25735: admission sees the object as it will be stored, by every way of writing, beside the stored one, whatever
 * the request claims.
 */
import { describe, expect, test } from "vitest";
import { TestApi } from "../../api-harness.ts";
import type { Reply, RequestOptions } from "../../api-harness.ts";
import { bind } from "../../conformance/admission-policy-fixture.ts";
import { made } from "./custom-kind.ts";

const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const NODES = "/api/v1/nodes";
const MERGE = { type: "application/merge-patch+json" };
const STRATEGIC = { type: "application/strategic-merge-patch+json" };
const JSON_PATCH = { type: "application/json-patch+json" };
const APPLY = { type: "application/apply-patch+yaml" };

function matching(group: string, resource: string): object {
  const rule = {
    apiGroups: [group],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: [resource],
  };
  return { resourceRules: [rule] };
}

/** A Role, which an update may also create. */
function role(name: string, mark: string, more: object = {}): object {
  const kind = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" };
  return { ...kind, metadata: { name, annotations: { mark, ...more } }, rules: [] };
}

/** Method and path below the collection: `PUT /a`. */
type Way = readonly [title: string, request: string, body: unknown, options: RequestOptions];

function send(api: TestApi, request: string, body: unknown, options: RequestOptions): Promise<Reply> {
  const [method = "", name = ""] = request.split(" ");
  return api.send(method, `${ROLES}${name}`, body, options);
}

const BAD = { metadata: { annotations: { mark: "bad" } } };
const WAYS: readonly Way[] = [
  ["a create", "POST", role("new", "bad"), {}],
  ["an update", "PUT /a", role("a", "bad"), {}],
  ["an update that creates", "PUT /new", role("new", "bad"), {}],
  ["a merge patch", "PATCH /a", BAD, MERGE],
  ["a strategic patch", "PATCH /a", BAD, STRATEGIC],
  [
    "a JSON patch",
    "PATCH /a",
    [{ op: "replace", path: "/metadata/annotations/mark", value: "bad" }],
    JSON_PATCH,
  ],
  [
    "a JSON patch that copies",
    "PATCH /a",
    [{ op: "copy", from: "/metadata/annotations/source", path: "/metadata/annotations/mark" }],
    JSON_PATCH,
  ],
  ["an apply", "PATCH /a?fieldManager=x&force=true", role("a", "bad"), APPLY],
  ["an apply that creates", "PATCH /new?fieldManager=x", role("new", "bad"), APPLY],
  ["a dry run", "PUT /a?dryRun=All", role("a", "bad"), {}],
];

async function withRole(): Promise<TestApi> {
  const api = await TestApi.start();
  await made(api.send("POST", ROLES, role("a", "good", { source: "bad" })));
  return api;
}

const ON_ROLES = matching("rbac.authorization.k8s.io", "roles");

describe("a write that must not be", () => {
  test.each(WAYS)("is refused as %s, and nothing changes", async (_title, request, body, options) => {
    await using api = await withRole();
    await bind(api, "Validating", {
      spec: {
        matchConstraints: ON_ROLES,
        validations: [
          { expression: "object.metadata.annotations.mark != 'bad'", message: "refused by policy" },
        ],
      },
      binding: { validationActions: ["Deny"] },
    });
    const { revision } = api.store.view;

    const reply = await send(api, request, body, options);

    expect(reply.code).toBe(422);
    expect(reply.bytes.toString()).toContain("refused by policy");
    expect(api.store.view.revision).toBe(revision);
  });

  test.each(WAYS)(
    "is refused as %s when another policy makes it so",
    async (_title, request, body, options) => {
      await using api = await withRole();
      await bind(api, "Validating", {
        spec: {
          matchConstraints: ON_ROLES,
          validations: [
            { expression: "!('added' in object.metadata.annotations)", message: "refused by policy" },
          ],
        },
        binding: { validationActions: ["Deny"] },
      });
      await bind(api, "Mutating", {
        name: "mutating",
        spec: {
          matchConstraints: ON_ROLES,
          reinvocationPolicy: "Never",
          mutations: [
            {
              patchType: "ApplyConfiguration",
              applyConfiguration: {
                expression: "Object{metadata: Object.metadata{annotations: {'added': 'x'}}}",
              },
            },
          ],
        },
      });

      const reply = await send(api, request, body, options);

      expect(reply.bytes.toString()).toContain("refused by policy");
    },
  );
});

describe("the object that was there before", () => {
  const node = (labels: object): object => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n", labels },
  });
  const UNLOCKED = node({ locked: "no" });

  test.each<readonly [string, (api: TestApi) => Promise<Reply>]>([
    ["an update", (api) => api.send("PUT", `${NODES}/n`, UNLOCKED)],
    [
      "a merge patch",
      (api) => api.send("PATCH", `${NODES}/n`, { metadata: { labels: { locked: "no" } } }, MERGE),
    ],
    [
      "a strategic patch",
      (api) => api.send("PATCH", `${NODES}/n`, { metadata: { labels: { locked: null } } }, STRATEGIC),
    ],
    [
      "a JSON patch",
      (api) => api.send("PATCH", `${NODES}/n`, [{ op: "remove", path: "/metadata/labels" }], JSON_PATCH),
    ],
    ["an apply", (api) => api.send("PATCH", `${NODES}/n?fieldManager=x&force=true`, UNLOCKED, APPLY)],
    ["the status", (api) => api.send("PUT", `${NODES}/n/status`, { ...UNLOCKED, status: {} })],
  ])("is the stored one for %s, not the one that the request tells of", async (_what, send) => {
    await using api = await TestApi.start();
    await made(api.send("POST", NODES, node({ locked: "yes" })));
    const resources = ["nodes", "nodes/status"].map((resource) => matching("", resource));
    const rules = resources.flatMap((one) => (one as { resourceRules: object[] }).resourceRules);
    await bind(api, "Validating", {
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [
          {
            expression:
              "request.operation == 'CREATE' || !('locked' in oldObject.metadata.labels) || oldObject.metadata.labels.locked != 'yes'",
            message: "it is locked",
          },
        ],
      },
      binding: { validationActions: ["Deny"] },
    });

    const reply = await send(api);

    expect([reply.code, reply.bytes.toString().includes("it is locked")]).toEqual([422, true]);
  });

  test("is the newest one when others write at the same time", async () => {
    await using api = await TestApi.start();
    await made(api.send("POST", LEASES, { metadata: { name: "a" }, spec: { holderIdentity: "0" } }));
    await bind(api, "Validating", {
      spec: {
        matchConstraints: matching("coordination.k8s.io", "leases"),
        validations: [
          { expression: "int(object.spec.holderIdentity) == int(oldObject.spec.holderIdentity) + 1" },
        ],
      },
      binding: { validationActions: ["Deny"] },
    });
    const raise = (to: number): Promise<Reply> =>
      api.send("PATCH", `${LEASES}/a`, { spec: { holderIdentity: String(to) } }, MERGE);

    const first = await Promise.all(Array.from({ length: 5 }, () => raise(1)));
    const second = await raise(2);

    expect(first.map(({ code }) => code).toSorted((left, right) => left - right)).toEqual([
      200, 422, 422, 422, 422,
    ]);
    expect(second.code).toBe(200);
  });
});
