import { describe, expect, test } from "vitest";
import { isApiError } from "../../../api/errors/api-error.ts";
import { parseFieldSelector } from "../../../api/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../api/selectors/label-query.ts";
import { kinds } from "../../../resources/index.ts";
import { Registry, requireStored } from "../../objects/registry.ts";
import { Versions } from "../../objects/versions.ts";
import { OpenSelectors } from "./open-selectors.ts";
import type { Selectors } from "./open-selectors.ts";

const PODS = requireStored(new Registry(kinds), "", "pods");
const VERSIONS = new Versions(new Map());

/** A selector of this many labels. Labels of different keys are distinct. */
function without(count: number, key = "a"): Selectors {
  const query = Array.from({ length: count }, (_, at) => `!${key}${String(at)}`).join(",");
  return { labels: parseLabelSelector(query), fields: parseFieldSelector("") };
}

describe("OpenSelectors", () => {
  test("OpenSelectors shares one selector among equal ones", () => {
    const open = new OpenSelectors();

    const first = open.hold(without(100));
    const second = open.hold(without(100));

    expect(second.labels).toBe(first.labels);
    expect(second).toBe(first);
  });

  test("OpenSelectors has one filter for all watches of a resource with equal selectors", () => {
    const open = new OpenSelectors();
    const filter = (selectors: Selectors) => open.filter(open.hold(selectors), PODS, VERSIONS);

    expect(filter(without(1))).toBeDefined();
    expect(filter(without(1))).toBe(filter(without(1)));
    expect(filter(without(1, "b"))).not.toBe(filter(without(1)));
    expect(filter(without(0))).toBeUndefined();
  });

  test("OpenSelectors keeps no filter after the last release of a selector", () => {
    const open = new OpenSelectors();
    const held = open.hold(without(1));
    const filter = open.filter(held, PODS, VERSIONS);

    open.release(held);

    expect(open.filter(open.hold(without(1)), PODS, VERSIONS)).not.toBe(filter);
  });

  test("OpenSelectors counts no terms of short selectors", () => {
    const open = new OpenSelectors(10);

    expect(() => open.hold(without(16))).not.toThrow();
    expect(() => open.hold(without(16, "b"))).not.toThrow();
  });

  test("OpenSelectors refuses more terms than there is room for", () => {
    const open = new OpenSelectors(300);
    open.hold(without(100));

    expect(() => open.hold(without(250, "b"))).toThrow(
      expect.toSatisfy((error) => isApiError(error, "TooManyRequests")) as Error,
    );
    expect(() => open.requireRoom(without(250, "b"))).toThrow(/selectors/);
  });

  test("OpenSelectors has room for a selector that is already open", () => {
    const open = new OpenSelectors(100);

    open.hold(without(100));

    expect(() => open.requireRoom(without(100))).not.toThrow();
    expect(() => open.hold(without(100))).not.toThrow();
  });

  test("OpenSelectors also counts values and terms on fields", () => {
    const values = Array.from({ length: 100 }, (_, at) => String(at)).join(",");
    const fields = Array.from({ length: 100 }, (_, at) => `metadata.name!=${String(at)}`).join(",");
    const labels = parseLabelSelector(`a in (${values})`);

    expect(() => new OpenSelectors(199).hold({ labels, fields: parseFieldSelector(fields) })).toThrow(
      /too long/,
    );
    expect(() => new OpenSelectors(200).hold({ labels, fields: parseFieldSelector(fields) })).not.toThrow();
  });

  test("OpenSelectors frees the room after the last release of a selector", () => {
    const open = new OpenSelectors(100);
    const first = open.hold(without(100));
    const second = open.hold(without(100));

    open.release(first);
    expect(() => open.hold(without(100, "b"))).toThrow(/too long/);
    open.release(second);

    expect(() => open.hold(without(100, "b"))).not.toThrow();
  });
});
