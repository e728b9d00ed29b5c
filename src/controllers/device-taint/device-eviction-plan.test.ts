import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { DeviceTaint, ResourceClaim, ResourceSlice } from "../../api/generated/types/resource-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { apiInteger } from "../../api/values/plain-number.ts";
import { findEvictionAt, isUsing } from "./device-eviction-plan.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const BROKEN: DeviceTaint = { key: "broken", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };

function evictionAt(
  taints: readonly DeviceTaint[],
  tolerations: readonly object[] = [],
  { older = [], generation = 2 }: { readonly older?: readonly DeviceTaint[]; generation?: number } = {},
): number | undefined {
  const results = [{ request: "r", driver: "d", pool: "p", device: "x", tolerations }];
  const claim = incomplete<ResourceClaim>({ status: { allocation: { devices: { results } } } });
  const slice = (at: number, given: readonly DeviceTaint[]): ResourceSlice =>
    incomplete<ResourceSlice>({
      spec: { pool: { generation: at }, devices: [{ name: "x", taints: given }] },
    });
  return findEvictionAt(claim, () => [slice(generation, taints), slice(1, older)]);
}

describe("pods with a tainted device", () => {
  test.each<readonly [string, readonly DeviceTaint[], readonly object[], number | undefined]>([
    ["stay without a taint", [], [], undefined],
    ["stay with a NoSchedule taint", [{ ...BROKEN, effect: "NoSchedule" }], [], undefined],
    ["are evicted at once", [BROKEN], [], T0],
    [
      "stay if they tolerate it",
      [BROKEN],
      [{ key: "broken", operator: "Exists", effect: "NoExecute" }],
      undefined,
    ],
    [
      "stay for as long as they tolerate it",
      [BROKEN],
      [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
      T0 + 60_000,
    ],
    [
      "are evicted at once if they tolerate another taint",
      [BROKEN],
      [{ key: "other", operator: "Exists", effect: "NoExecute" }],
      T0,
    ],
    [
      "are evicted when the shortest toleration ends",
      [BROKEN],
      [
        { operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 },
        { key: "broken", effect: "NoExecute", tolerationSeconds: 30 },
      ],
      T0 + 30_000,
    ],
  ])("%s", (...[, taints, tolerations, at]) => {
    expect(evictionAt(taints, tolerations)).toBe(at);
  });

  test("are judged by the newest generation of the pool", () => {
    expect(evictionAt([], [], { older: [BROKEN] })).toBeUndefined();
    expect(evictionAt([], [], { older: [BROKEN], generation: apiInteger(2n ** 60n) })).toBeUndefined();
    expect(evictionAt([BROKEN], [], { generation: apiInteger(2n ** 60n) })).toBe(T0);
  });
});

describe("a pod", () => {
  const owned = { metadata: { name: "c", ownerReferences: [{ uid: "p1", controller: true }] } };
  const other = { metadata: { name: "c", ownerReferences: [{ uid: "p0", controller: true }] } };
  const template = { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "t" }] };
  const made = { resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "c" }] };
  const plain = { resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] };
  const uses = (claim: object, spec: object, status: object = {}): boolean => {
    const reservedFor = [{ resource: "pods", name: "web", uid: "p1" }];
    return isUsing(
      { metadata: { name: "web", uid: "p1" }, spec: { nodeName: "n", ...spec }, status } as Pod,
      incomplete<ResourceClaim>({ status: { reservedFor }, ...claim }),
    );
  };

  test.each<readonly [string, boolean, boolean]>([
    ["the claim that it names", uses(other, plain), true],
    ["the claim that was made for it", uses(owned, template, made), true],
    ["no claim before it is on a node", uses(other, { ...plain, nodeName: "" }), false],
    ["no claim that is reserved for others", uses({ ...other, status: {} }, plain), false],
    ["no claim that it does not say is its own", uses(owned, template), false],
    [
      "no claim where it needs none",
      uses(owned, template, { resourceClaimStatuses: [{ name: "gpu" }] }),
      false,
    ],
    ["no claim that was made for an earlier pod of its name", uses(other, template, made), false],
    ["no claim when it has ended", uses(other, plain, { phase: "Failed" }), false],
  ])("uses %s", (...[, is, expected]) => {
    expect(is).toBe(expected);
  });
});
