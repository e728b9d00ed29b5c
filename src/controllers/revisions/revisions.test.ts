import { describe, expect, test } from "vitest";
import type { ControllerRevision } from "../../api/generated/types/apps-v1.ts";
import { planHistory } from "./revisions.ts";

function revision(n: number): ControllerRevision {
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name: `r${n}`, namespace: "default", uid: `${n}`, resourceVersion: "1" },
    revision: n,
  } as ControllerRevision;
}

describe("revisions to delete", () => {
  const all = [1, 2, 3, 4].map(revision);
  const forgotten = (limit: number): readonly number[] =>
    planHistory(all, { limit, isLive: ({ revision: n }) => n === 4 }).map(({ revision: n }) => n);

  test("are the oldest unused ones beyond the limit", () => {
    expect(forgotten(1)).toEqual([1, 2]);
    expect(forgotten(0)).toEqual([1, 2, 3]);
    expect(forgotten(10)).toEqual([]);
  });

  test("are none with a negative limit", () => {
    expect(forgotten(-1)).toEqual([]);
  });
});
