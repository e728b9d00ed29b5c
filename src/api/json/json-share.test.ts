import { describe, expect, test } from "vitest";
import { shareParts } from "./json-share.ts";

describe("shareParts", () => {
  test("equal parts come from the previous object, the rest stays", () => {
    const previous = {
      metadata: { labels: { a: "1" } },
      spec: { list: [{ x: 1 }, { x: 2 }], deep: { y: [] } },
    };
    const next = { metadata: { labels: { a: "2" } }, spec: { list: [{ x: 1 }, { x: 3 }], deep: { y: [] } } };
    const expected = structuredClone(next);

    const shared = shareParts(next, previous);

    expect(shared).toEqual(expected);
    expect(shared.spec.deep).toBe(previous.spec.deep);
    expect(shared.spec.list[0]).toBe(previous.spec.list[0]);
    expect(shared.metadata.labels).not.toBe(previous.metadata.labels);
  });

  test("an equal object is replaced by the previous one", () => {
    const previous = { spec: { list: [{ x: 1 }] } };

    expect(shareParts(structuredClone(previous), previous)).toBe(previous);
  });

  test("another order of keys, a missing and an additional item are differences", () => {
    const previous = { a: { x: 1, y: 2 }, b: [1], c: [1, 2] };
    const next = { a: { y: 2, x: 1 }, b: [1, 2], c: [1] };

    const shared = shareParts<unknown>(next, previous);

    expect(JSON.stringify(shared)).toBe('{"a":{"y":2,"x":1},"b":[1,2],"c":[1]}');
  });

  test("keys such as __proto__ are data", () => {
    const text = '{"__proto__":{},"constructor":{"b":2}}';

    const shared = shareParts(JSON.parse(text) as object, {});

    expect(JSON.stringify(shared)).toBe(text);
    expect(Object.getPrototypeOf(shared)).toBe(Object.prototype);
  });

  test("frozen parts are shared too, and stay unchanged", () => {
    const previous = { spec: { list: [{ x: 1 }, { x: 2 }], same: [{ y: 1 }] } };
    const list = Object.freeze([Object.freeze({ x: 1 }), Object.freeze({ x: 3 })]);
    const next = { spec: { list, same: Object.freeze([Object.freeze({ y: 1 })]) } };

    const shared = shareParts<unknown>(next, previous) as typeof previous;

    expect(shared).toEqual({ spec: { list: [{ x: 1 }, { x: 3 }], same: [{ y: 1 }] } });
    expect(shared.spec.same).toBe(previous.spec.same);
    expect(shared.spec.list[0]).toBe(previous.spec.list[0]);
    expect(list[0]).not.toBe(previous.spec.list[0]);
  });
});
