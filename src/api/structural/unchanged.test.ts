import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText, FieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { checkExpressions } from "./expression-check.ts";
import { compileStructural } from "./structural.ts";
import { checkValue } from "./value-check.ts";

const PORT = {
  type: "object",
  properties: { name: { type: "string" }, port: { type: "integer" } },
};

function keyed(more: object): JSONSchemaProps {
  const ports = {
    type: "array",
    items: PORT,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    ...more,
  };
  return { type: "object", properties: { ports } } as JSONSchemaProps;
}

const [A, B, C] = [
  { name: "a", port: 1 },
  { name: "b", port: 2 },
  { name: "c", port: 3 },
];

describe("a list with keys that a schema no longer allows", () => {
  test.each([
    [[C, A, B], []],
    [[A, B, { name: "c", port: 4 }], ["ports: Too many: 3: must have at most 2 items"]],
    [[A, B, C, { name: "d", port: 5 }], ["ports: Too many: 4: must have at most 2 items"]],
    [[A, A, B], ["ports: Too many: 3: must have at most 2 items"]],
  ])("may be reordered, but not changed: %j", (ports, problems) => {
    const schema = compileStructural(keyed({ maxItems: 2 }));
    const errors = new FieldErrors();

    checkValue({ schema, value: { ports }, previous: { ports: [A, B, C] } }, "", errors);

    expect(errors.found.map(fieldErrorText)).toEqual(problems);
  });

  test.each([
    [[C, A, B], 0],
    [[A, B, { name: "c", port: 4 }], 1],
  ])("fails its rules only when changed: %j", (ports, count) => {
    const schema = compileStructural(keyed({ "x-kubernetes-validations": [{ rule: "size(self) < 3" }] }));
    const errors = new FieldErrors();
    const checked = { schema, value: { ports }, previous: { ports: [A, B, C] } };

    checkExpressions(checked, new FieldPath(""), errors);

    expect(errors.found).toHaveLength(count);
  });
});
