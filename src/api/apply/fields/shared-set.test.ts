import { describe, expect, test } from "vitest";
import type { FieldSet } from "./field-set.ts";
import { setOf, setText, sharedSet, sharedUnion } from "./shared-set.ts";

function set(name: string): FieldSet {
  return { "f:spec": { [`f:${name}`]: {} } };
}

describe("a shared set", () => {
  test("is one instance for equal sets", () => {
    const first = sharedSet(set("a"));

    expect(sharedSet(set("a"))).toBe(first);
    expect(sharedSet(first)).toBe(first);
    expect(sharedSet(set("b"))).not.toBe(first);
  });

  test("has the text of its JSON, like a set that is not shared", () => {
    const alone = set("alone");

    expect(setText(alone)).toBe(JSON.stringify(alone));
    expect(setText(sharedSet(alone))).toBe(JSON.stringify(alone));
  });

  test("is evicted after two generations of others, and equal sets are still equal", () => {
    const first = sharedSet(set("old"));

    for (let n = 0; n < 5000; n++) sharedSet(set(`field-${String(n)}`));

    expect(sharedSet(set("old"))).not.toBe(first);
    expect(sharedSet(set("old"))).toEqual(first);
  });

  test("takes the parts that equal those of the set before", () => {
    const status = (address: string): FieldSet => ({
      "f:status": {
        "f:conditions": { ".": {}, "f:type": {} },
        "f:podIPs": { [`k:{"ip":"${address}"}`]: {} },
      },
    });
    const [first, second] = ["10.0.0.1", "10.0.0.2"].map((address) => setOf(JSON.stringify(status(address))));

    expect(second).toEqual(status("10.0.0.2"));
    expect(second?.["f:status"]?.["f:conditions"]).toBe(first?.["f:status"]?.["f:conditions"]);
    expect(second?.["f:status"]?.["f:podIPs"]).not.toBe(first?.["f:status"]?.["f:podIPs"]);
  });

  test("has its text after it was evicted, too", () => {
    const first = sharedSet(set("evicted"));

    for (let n = 0; n < 5000; n++) sharedSet(set(`other-${String(n)}`));

    expect(setText(first)).toBe(JSON.stringify(set("evicted")));
    expect(sharedUnion(first, set("more"))).toEqual({ "f:spec": { "f:evicted": {}, "f:more": {} } });
  });

  test("is not cached when it is very large", () => {
    const large = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`f:${String(n)}`, {}]));

    expect(sharedSet({ ...large })).not.toBe(sharedSet({ ...large }));
  });

  test("is one instance for sets that grew from the same set by the same fields", () => {
    const first = sharedSet({ "f:metadata": { "f:name": {} }, ...set("a") });
    const both = sharedUnion(first, set("b"));

    expect(both).toEqual({ "f:metadata": { "f:name": {} }, "f:spec": { "f:a": {}, "f:b": {} } });
    expect(sharedUnion(first, set("b"))).toBe(both);
    expect(sharedUnion({ ...first }, set("b"))).toBe(both);
    expect(sharedSet(structuredClone(both))).toBe(both);
  });

  test("is returned itself when an addition has no new field", () => {
    const first = sharedSet(set("a"));

    expect(sharedUnion(first, set("a"))).toBe(first);
  });
});
