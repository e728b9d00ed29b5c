import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectMeta, OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { planFate } from "./plan-fate.ts";
import type { Fate, Standing } from "./plan-fate.ts";

const DELETED = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("the fate of an object with owners", () => {
  test.each<[string, readonly Standing[], Fate]>([
    ["stays with an owner", ["solid"], { type: "keep" }],
    ["stays with several", ["solid", "solid"], { type: "keep" }],
    [
      "drops references to deleted and waiting owners",
      ["solid", "dangling", "waiting"],
      { type: "release", uids: ["u1", "u2"] },
    ],
    [
      "is deleted without living owners",
      ["dangling", "dangling"],
      { type: "delete", policy: "Background", unblocks: false },
    ],
    [
      "is deleted with an owner that waits for it",
      ["waiting", "dangling"],
      { type: "delete", policy: "Background", unblocks: false },
    ],
  ])("%s", (_, standings, fate) => {
    expect(planFate(object(), owners(standings), [])).toEqual(fate);
  });

  test("dependents are deleted first if the owner waits", () => {
    const fate = planFate(object(), owners(["waiting"]), [object()]);

    expect(fate).toEqual({ type: "delete", policy: "Foreground", unblocks: false });
  });

  test("a cycle of waiting objects is broken", () => {
    const dependent = object({ ...DELETED, finalizers: ["foregroundDeletion"] });

    expect(planFate(object(), owners(["waiting"]), [dependent])).toMatchObject({ unblocks: true });
  });

  test.each([
    ["orphan", "Orphan"],
    ["foregroundDeletion", "Foreground"],
  ])("the finalizer %s sets the propagation policy", (finalizer, policy) => {
    const fate = planFate(object({ finalizers: [finalizer] }), owners(["dangling"]), [object()]);

    expect(fate).toEqual({ type: "delete", policy, unblocks: false });
  });
});

function object(metadata: ObjectMeta = {}): ApiObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function owners(standings: readonly Standing[]): Parameters<typeof planFate>[1] {
  return standings.map((standing, at) => ({ standing, reference: reference(`u${String(at)}`) }));
}

function reference(uid: string): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name: uid, uid };
}
