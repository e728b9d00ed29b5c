import fc from "fast-check";
import { expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { parseLabelSelector } from "../../api/selectors/label-query.ts";
import { labelsMatch } from "../../api/selectors/label-selector.ts";
import { selectedValues, selectingValue } from "./selecting.ts";

function pod(namespace: string, labels: Readonly<Record<string, string>>): Pod {
  return incomplete<Pod>({ metadata: { name: "p", namespace, labels } });
}

const labels = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", "y"));
const terms = fc.array(fc.constantFrom("a=x", "a in (x,y)", "a!=x", "b", "!b", "b in (y)"), { maxLength: 3 });

test("a pod is found by the value of each selector that matches it", () => {
  fc.assert(
    fc.property(labels, terms, (given, chosen) => {
      const selector = parseLabelSelector(chosen.join(","));
      const isFound = [...selectedValues(pod("n", given))].includes(selectingValue("n", selector));
      expect(isFound || !labelsMatch(selector, given)).toBe(true);
    }),
  );
});

test("a pod is not found by a selector that demands another label, or from another namespace", () => {
  const values = [...selectedValues(pod("n", { a: "x" }), undefined)];

  expect(values).not.toContain(selectingValue("n", parseLabelSelector("a=y")));
  expect(values).not.toContain(selectingValue("m", parseLabelSelector("a=x")));
});

test("a pod is found by the labels of both states", () => {
  const values = [...selectedValues(pod("n", { a: "x" }), pod("n", { a: "y" }))];

  expect(values).toContain(selectingValue("n", parseLabelSelector("a=x")));
  expect(values).toContain(selectingValue("n", parseLabelSelector("a=y")));
});
