import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectMeta, OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { planAction } from "./plan-action.ts";
import type { CollectorAction, OwnerState } from "./plan-action.ts";

const DELETED = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("the action on an object with owners", () => {
  test.each<[string, readonly OwnerState[], CollectorAction]>([
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
  ])("%s", (_, states, action) => {
    expect(planAction(object(), owners(states), [])).toEqual(action);
  });

  test("dependents are deleted first if the owner waits", () => {
    const action = planAction(object(), owners(["waiting"]), [object()]);

    expect(action).toEqual({ type: "delete", policy: "Foreground", unblocks: false });
  });

  test("a cycle of waiting objects is broken", () => {
    const dependent = object({ ...DELETED, finalizers: ["foregroundDeletion"] });

    expect(planAction(object(), owners(["waiting"]), [dependent])).toMatchObject({ unblocks: true });
  });

  test.each([
    ["orphan", "Orphan"],
    ["foregroundDeletion", "Foreground"],
  ])("the finalizer %s sets the propagation policy", (finalizer, policy) => {
    const action = planAction(object({ finalizers: [finalizer] }), owners(["dangling"]), [object()]);

    expect(action).toEqual({ type: "delete", policy, unblocks: false });
  });
});

function object(metadata: ObjectMeta = {}): ApiObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function owners(states: readonly OwnerState[]): Parameters<typeof planAction>[1] {
  return states.map((state, at) => ({ state, reference: reference(`u${String(at)}`) }));
}

function reference(uid: string): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name: uid, uid };
}
