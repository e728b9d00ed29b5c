/** kubectl migrates from client-side to server-side apply and back. */
import { describe, expect, test } from "vitest";
import { TestApi } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

function map(value: string): Record<string, unknown> {
  return {
    apiVersion: "v1",
    data: { value },
    kind: "ConfigMap",
    metadata: { annotations: {}, name: "a", namespace: "default" },
  };
}

/** The object as `kubectl apply` creates it. */
function createClientSide(api: TestApi, value: string): Promise<Reply> {
  const annotations = { [ANNOTATION]: `${JSON.stringify(map(value))}\n` };
  const object = { ...map(value), metadata: { name: "a", annotations } };
  return api.send("POST", `${MAPS}?fieldManager=kubectl-client-side-apply`, object);
}

function applyServerSide(api: TestApi, value: string, manager: string): Promise<Reply> {
  const url = `${MAPS}/a?fieldManager=${manager}`;
  return api.send("PATCH", url, map(value), { type: "application/apply-patch+yaml" });
}

function lastApplied({ body }: Reply): unknown {
  return body["metadata"]?.["annotations"]?.[ANNOTATION];
}

describe("kubectl apply, then kubectl apply --server-side", () => {
  test("is no conflict, and the annotation follows", async () => {
    await using api = await TestApi.start();
    await createClientSide(api, "1");

    const applied = await applyServerSide(api, "2", "kubectl");

    expect([applied.code, applied.body["data"]]).toEqual([200, { value: "2" }]);
    expect(lastApplied(applied)).toBe(`${JSON.stringify(map("2"))}\n`);
  });

  test("another manager gets the conflict and leaves the annotation alone", async () => {
    await using api = await TestApi.start();
    const made = await createClientSide(api, "1");

    const refused = await applyServerSide(api, "2", "other");
    const same = await applyServerSide(api, "1", "other");

    expect([refused.code, refused.body["reason"]]).toEqual([409, "Conflict"]);
    expect(same.code).toBe(200);
    expect(lastApplied(same)).toBe(lastApplied(made));
  });

  test("what was never applied by the client gets no annotation", async () => {
    await using api = await TestApi.start();

    const applied = await applyServerSide(api, "1", "kubectl");

    expect([applied.code, lastApplied(applied)]).toEqual([201, undefined]);
  });
});
