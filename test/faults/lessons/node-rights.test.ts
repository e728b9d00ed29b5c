/**
 * CVE-2025-4563, CVE-2025-5187: every verb that writes, the first write included, limits a node to its own objects, and a node cannot make
 * others act for it by claiming an owner.
 */
import { describe, expect, test } from "vitest";
import { TestApi, text } from "../../api-harness.ts";
import type { Reply, RequestOptions } from "../../api-harness.ts";
import { made } from "./custom-kind.ts";

const NODES = "/api/v1/nodes";
const PODS = "/api/v1/namespaces/default/pods";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const NODE = { as: { user: "system:node:n1", groups: ["system:nodes"] } };
const MERGE = { ...NODE, type: "application/merge-patch+json" };
const STRATEGIC = { ...NODE, type: "application/strategic-merge-patch+json" };
const JSON_PATCH = { ...NODE, type: "application/json-patch+json" };
const APPLY = { ...NODE, type: "application/apply-patch+yaml" };
const MIRROR = { "kubernetes.io/config.mirror": "hash" };

/** Nodes n1 and n2, with every right that roles can give: only the code under test refuses. */
async function started(): Promise<{ api: TestApi; owner: object }> {
  const api = await TestApi.start(["default", "kube-node-lease"]);
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  await made(api.send("POST", `${RBAC}/clusterroles`, { metadata: { name: "all" }, rules }));
  await made(
    api.send("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: "all" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "all" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" }],
    }),
  );
  await made(api.send("POST", NODES, { metadata: { name: "n2" } }));
  const { body } = await made(api.send("POST", NODES, { metadata: { name: "n1" } }));
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: text(body["metadata"]?.["uid"]) };
  return { api, owner };
}

const REFUSED = expect.stringMatching(/forbidden|not allowed/) as unknown;

function told({ code, body }: Reply): readonly unknown[] {
  return [code, text(body["message"])];
}

describe("a node", () => {
  test("creates only what is its own", async () => {
    const { api, owner } = await started();
    await using _closing = api;
    const mirror = (metadata: object, spec: object = {}): object => ({
      metadata: {
        name: "p",
        annotations: MIRROR,
        ownerReferences: [{ ...owner, controller: true }],
        ...metadata,
      },
      spec: { nodeName: "n1", containers: [{ name: "a", image: "b" }], ...spec },
    });
    const claim = { name: "c", resourceClaimName: "somebody-elses" };
    const others: readonly (readonly [string, object])[] = [
      [NODES, { metadata: { name: "n3" } }],
      [PODS, mirror({ annotations: {} })],
      [PODS, mirror({}, { nodeName: "n2" })],
      [PODS, mirror({ ownerReferences: [] })],
      [PODS, mirror({}, { serviceAccountName: "default" })],
      [PODS, mirror({}, { volumes: [{ name: "v", secret: { secretName: "s" } }] })],
      [PODS, mirror({}, { resourceClaims: [claim] })],
      [LEASES, { metadata: { name: "n2" }, spec: {} }],
      ["/apis/storage.k8s.io/v1/csinodes", { metadata: { name: "n2" }, spec: { drivers: [] } }],
    ];

    for (const [target, body] of others)
      expect(told(await api.send("POST", target, body, NODE))).toEqual([403, REFUSED]);
    await made(api.send("POST", PODS, mirror({}), NODE));
    await made(api.send("POST", LEASES, { metadata: { name: "n1" }, spec: {} }, NODE));
  });

  test.each<readonly [string, string, (change: object) => unknown, RequestOptions]>([
    ["an update", "PUT /n1", (metadata) => ({ metadata: { name: "n1", ...metadata } }), NODE],
    [
      "an update of its status",
      "PUT /n1/status",
      (metadata) => ({ metadata: { name: "n1", ...metadata } }),
      NODE,
    ],
    ["a merge patch", "PATCH /n1", (metadata) => ({ metadata }), MERGE],
    ["a merge patch of its status", "PATCH /n1/status", (metadata) => ({ metadata }), MERGE],
    ["a strategic patch", "PATCH /n1", (metadata) => ({ metadata }), STRATEGIC],
    [
      "a JSON patch",
      "PATCH /n1",
      (metadata) =>
        Object.entries(metadata).map(([key, value]) => ({
          op: "add",
          path: `/metadata/${key}`,
          value: value as unknown,
        })),
      JSON_PATCH,
    ],
    [
      "an apply",
      "PATCH /n1?fieldManager=x&force=true",
      (metadata) => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", ...metadata } }),
      APPLY,
    ],
  ])(
    "names no owner of itself, and takes no label that others trust, by %s",
    async (_what, request, body, options) => {
      const [method = "", place = ""] = request.split(" ");
      const { api } = await started();
      await using _closing = api;
      const gone = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "gone",
        uid: "0b9a1c5e-6f52-4a4c-9d0e-7e6c4a1f2b3d",
      };
      const changes = [
        { ownerReferences: [gone] },
        { labels: { "node-restriction.kubernetes.io/tenant": "other" } },
      ];

      for (const change of changes) {
        const reply = await api.send(method, `${NODES}${place}`, body(change), options);
        const { body: found } = await made(api.send("GET", `${NODES}/n1`));

        // Refused, or without effect where the endpoint does not write that metadata.
        const metadata = found["metadata"] as { ownerReferences?: unknown; labels?: object };
        expect([reply.code, metadata.ownerReferences]).toEqual([reply.code < 300 ? 200 : 403, undefined]);
        expect(Object.keys(metadata.labels ?? {})).not.toContain("node-restriction.kubernetes.io/tenant");
      }
    },
  );

  test.each(["PUT", "PATCH", "DELETE"])("changes nothing of another node by %s", async (method) => {
    const { api } = await started();
    await using _closing = api;
    const { revision } = api.store.view;

    for (const target of [`${NODES}/n2`, `${NODES}/n2/status`].slice(0, method === "DELETE" ? 1 : 2)) {
      const options = method === "PATCH" ? MERGE : NODE;
      const reply = await api.send(method, target, { metadata: { name: "n2", labels: { a: "b" } } }, options);
      expect([target, ...told(reply)]).toEqual([target, 403, REFUSED]);
    }
    expect(api.store.view.revision).toBe(revision);
  });
});
