/** Pods with equal specs share one copy within the server; clients cannot tell. */
import { describe, expect, test } from "vitest";
import { TestApi, text } from "../api-harness.ts";
import type { Reply, ReplyBody } from "../api-harness.ts";

const PODS = "/api/v1/namespaces/default/pods";
/** From the third pod on, the server reuses the results of the earlier ones. */
const TIMES = 4;

function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "web:1" }], ...spec },
  };
}

async function start(): Promise<TestApi> {
  const api = await TestApi.start(["default", "other"], { disabled: [] });
  for (const namespace of ["default", "other"]) {
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    await api.send("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
  }
  return api;
}

function names(): readonly string[] {
  return Array.from({ length: TIMES }, (_, n) => `pod-${String(n)}`);
}

async function sendAll(
  api: TestApi,
  make: (name: string) => object | Uint8Array,
  path = PODS,
): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const name of names()) replies.push(await api.send("POST", path, make(name)));
  return replies;
}

/** The object without the values of a single pod. */
function common({ body }: Reply): unknown {
  const { metadata, spec, status } = body;
  return { labels: metadata?.["labels"], managed: fieldsOf(metadata), spec, status };
}

function fieldsOf(metadata: ReplyBody | undefined): unknown {
  const entries = (metadata?.["managedFields"] ?? []) as readonly ReplyBody[];
  return entries.map(({ fieldsV1, manager }) => [manager, fieldsV1]);
}

describe("pods with equal specs", () => {
  test("become the same as the first of them, however they are written", async () => {
    await using api = await start();
    const spaced = (name: string): Uint8Array => Buffer.from(JSON.stringify(pod(name), undefined, 2));
    const yaml = (name: string): Uint8Array =>
      Buffer.from(
        `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {containers: [{name: main, image: "web:1"}]}}`,
      );

    const replies = [
      ...(await sendAll(api, (name) => pod(`json-${name}`))),
      ...(await sendAll(api, (name) => spaced(`spaced-${name}`))),
    ];
    for (const name of names()) {
      replies.push(await api.send("POST", PODS, yaml(`yaml-${name}`), { type: "application/yaml" }));
    }

    const [first] = replies;
    expect(first?.body["spec"]).toMatchObject({ restartPolicy: "Always", priority: 0 });
    for (const reply of replies) {
      expect(reply.code).toBe(201);
      expect(common(reply)).toEqual(first === undefined ? undefined : common(first));
      expect(JSON.stringify(reply.body["spec"])).toBe(JSON.stringify(first?.body["spec"]));
    }
  });

  test("are changed one by one", async () => {
    await using api = await start();
    const [first] = await sendAll(api, (name) => pod(name));
    const target = `${PODS}/pod-3`;
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "pod-3" } };

    const patch = {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "main", image: "web:2" }] },
    };
    const patched = await api.send("PATCH", target, patch, {
      type: "application/strategic-merge-patch+json",
    });
    const bound = await api.send("POST", `${target}/binding`, {
      ...binding,
      target: { kind: "Node", name: "n" },
    });
    const { body: changed } = await api.send("GET", target);
    const put = await api.send("PUT", target, {
      ...changed,
      metadata: { ...changed["metadata"], labels: {} },
    });

    expect([patched.code, bound.code, put.code]).toEqual([200, 201, 200]);
    expect(put.body["spec"]).toMatchObject({ nodeName: "n", containers: [{ image: "web:2" }] });
    for (const name of ["pod-0", "pod-1", "pod-2"]) {
      const { body } = await api.send("GET", `${PODS}/${name}`);
      expect(body["spec"]).toEqual(first?.body["spec"]);
    }
    const [again] = await sendAll(api, (name) => pod(`again-${name}`));
    expect(again?.body["spec"]).toEqual(first?.body["spec"]);
  });

  test("are told what is wrong with them each time, and warned each time", async () => {
    await using api = await start();
    const wrong = await sendAll(api, (name) => pod(name, { restartPolicy: "Sometimes" }));
    const env = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const doubtful = await sendAll(api, (name) =>
      pod(name, { containers: [{ name: "main", image: "web:1", env }], colour: "red" }),
    );

    for (const { code, body } of wrong) {
      expect(code).toBe(422);
      expect(text(body["message"])).toMatch(/spec.restartPolicy: Unsupported value: "Sometimes"/);
    }
    for (const { code, headers } of doubtful) {
      expect(code).toBe(201);
      expect(headers.get("warning")).toMatch(
        /unknown field \\"spec.colour\\".*hides previous definition of \\"A\\"/,
      );
    }
    const strict = await api.send("POST", `${PODS}?fieldValidation=Strict`, pod("strict", { colour: "red" }));
    expect(strict.code).toBe(400);
  });

  test("are judged together with what is their own", async () => {
    await using api = await start();
    const constraint = {
      maxSkew: 1,
      topologyKey: "zone",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "a" } },
      matchLabelKeys: ["revision"],
    };
    const template = {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    const spec = {
      topologySpreadConstraints: [constraint],
      volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: template } }],
    };

    const replies = await sendAll(api, (name) => pod(name, spec, { labels: { revision: name } }));
    const long = await api.send("POST", PODS, pod("x".repeat(250), spec));

    for (const [n, { body }] of replies.entries()) {
      const values = [`pod-${String(n)}`];
      const labelSelector = { matchExpressions: [{ key: "revision", operator: "In", values }] };
      expect(body["spec"]).toMatchObject({ topologySpreadConstraints: [{ labelSelector }] });
    }
    expect(long.code).toBe(422);
    expect(text(long.body["message"])).toMatch(/spec.volumes\[0\].name/);
  });

  test("get the defaults of their namespaces in turn", async () => {
    await using api = await start();
    const limits = [{ type: "Container", default: { cpu: "2" } }];
    await api.send("POST", "/api/v1/namespaces/other/limitranges", {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "limits" },
      spec: { limits },
    });

    for (const name of names()) {
      const here = await api.send("POST", PODS, pod(name));
      const there = await api.send("POST", "/api/v1/namespaces/other/pods", pod(name));

      expect(here.body["spec"]).toMatchObject({ containers: [{ resources: {} }] });
      expect(here.body["status"]).toMatchObject({ qosClass: "BestEffort" });
      expect(there.body["spec"]).toMatchObject({ containers: [{ resources: { limits: { cpu: "2" } } }] });
      expect(there.body["status"]).toMatchObject({ qosClass: "Burstable" });
    }
  });

  test("may come at once", async () => {
    await using api = await start();
    const all = Array.from({ length: 20 }, (_, n) => pod(`at-once-${String(n)}`, { hostname: "h" }));

    const replies = await Promise.all(all.map((each) => api.send("POST", PODS, each)));

    const [first] = replies;
    for (const reply of replies) {
      expect(reply.code).toBe(201);
      expect(reply.body["spec"]).toEqual(first?.body["spec"]);
    }
  });
});
