import { describe, expect, test } from "vitest";
import { CAUSE_LENGTH_MAX, causeText, isCause, parseCause } from "./cause-text.ts";
import type { WriteCause } from "./cause.ts";

const CAUSE: WriteCause = {
  pass: "replicaset/3f2a-77",
  subject: { group: "apps", kind: "ReplicaSet", namespace: "default", name: "demo" },
  note: "want 3, have 2",
  kept: [
    { type: "object", group: "", kind: "Pod", namespace: "default", name: "demo-x", resourceVersion: "1841" },
    {
      type: "object",
      group: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      namespace: "",
      name: "system:a b@c=d",
      resourceVersion: "7",
    },
    {
      type: "object",
      group: "",
      kind: "Pod",
      namespace: "a",
      name: "gone!",
      resourceVersion: "8",
      isGone: true,
    },
    { type: "timer" },
    { type: "resync" },
    { type: "retry", attempt: 3 },
  ],
  count: 9,
};

describe("the text of a cause", () => {
  test("is read back as it was written", () => {
    const text = causeText(CAUSE);

    expect(isCause(text)).toBe(true);
    expect(parseCause(text)).toEqual(CAUSE);
  });

  test("fits its limit and keeps the count of the reasons that it loses", () => {
    const name = "n".repeat(253);
    const reason = { ...CAUSE.kept[0], type: "object", namespace: name, name } as (typeof CAUSE.kept)[number];
    const text = causeText({ ...CAUSE, kept: Array.from({ length: 8 }, () => reason), count: 8 });

    expect(text.length).toBeLessThanOrEqual(CAUSE_LENGTH_MAX);
    expect(parseCause(text)).toMatchObject({ count: 8, note: CAUSE.note, subject: CAUSE.subject });
    expect(parseCause(text).kept.length).toBeLessThan(8);
  });

  test("may be a bare id, and ignores parts that it does not know", () => {
    const bare = { subject: undefined, note: undefined, kept: [], count: 0 };

    expect(parseCause("deploy-1")).toEqual({ pass: "deploy-1", ...bare });
    expect(parseCause("deploy-1 by=what of=x count=-1 new=1 stray note=%")).toEqual({
      pass: "deploy-1",
      ...bare,
      note: "%",
    });
  });

  test.each(["", " x", "ü", "a\nb", "x".repeat(129), `a ${"x".repeat(2048)}`])("is refused: %j", (text) => {
    expect(isCause(text)).toBe(false);
  });
});
