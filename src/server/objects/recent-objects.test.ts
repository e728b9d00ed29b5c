import { describe, expect, test } from "vitest";
import { keepRecent } from "./recent-objects.ts";

const spec = Object.freeze({ a: 1 });

function pod(name: string, members: object = { spec }): Parameters<typeof keepRecent>[0] {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, ...members };
}

describe("keepRecent", () => {
  test("keeps an object that shares its spec", () => {
    const object = pod("a");

    expect(keepRecent(object, 100)?.object).toBe(object);
  });

  test.each([
    ["without a spec", pod("a", {}), 100],
    ["with a spec of its own", pod("a", { spec: { a: 1 } }), 100],
    ["that is large", pod("a"), 100_000],
  ])("does not keep an object %s", (_, object, bytes) => {
    expect(keepRecent(object, bytes)).toBeUndefined();
  });

  test("evicts the oldest object when it is full", () => {
    const first = keepRecent(pod("first"), 100);
    const second = keepRecent(pod("second"), 100);

    for (let n = 0; n < 32_767; n++) keepRecent(pod("other"), 100);

    expect(first?.object).toBeUndefined();
    expect(second?.object?.metadata.name).toBe("second");
  });
});
