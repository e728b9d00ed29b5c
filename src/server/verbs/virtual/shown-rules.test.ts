import { expect, test } from "vitest";
import { shownRules } from "./shown-rules.ts";

const RULE = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

test("a rule that a thousand bindings grant is shown once", () => {
  const rules = Array.from({ length: 1000 }, () => RULE);

  expect(shownRules({ rules, isIncomplete: false, error: undefined })).toEqual({
    rules: [RULE],
    isIncomplete: false,
    error: undefined,
  });
});

test("a review with many large rules is truncated and marked incomplete", () => {
  const large = (at: number) => ({
    ...RULE,
    resourceNames: Array.from({ length: 10_000 }, (_, name) => `name-${String(at)}-${String(name)}`),
  });
  const rules = Array.from({ length: 100 }, (_, at) => large(at));

  const shown = shownRules({ rules, isIncomplete: false, error: "a role is missing" });

  expect(shown.rules.length).toBeGreaterThan(5);
  expect(shown.rules.length).toBeLessThan(20);
  expect(shown).toMatchObject({
    isIncomplete: true,
    error: "a role is missing, more rules are held than a review shows",
  });
});
