import { describe, expect, test } from "vitest";
import { matching } from "./field-pattern.ts";
import type { FieldSet } from "./field-set.ts";

const CONTAINER = 'k:{"name":"a"}';

function container(fields: FieldSet): FieldSet {
  return { "f:spec": { "f:containers": { [CONTAINER]: fields } } };
}

describe("a pattern of fields", () => {
  const pattern = { "f:spec": { "f:containers": { "*": { "f:resources": {} } } } };

  test("matches the fields below it and the members on the path there", () => {
    const resources = { "f:resources": { "f:limits": { ".": {}, "f:cpu": {} } } };
    const set = { "f:metadata": { "f:labels": {} }, ...container({ ".": {}, "f:name": {}, ...resources }) };

    expect(matching(set, pattern)).toEqual(container({ ".": {}, ...resources }));
  });

  test("keeps the key of an item whose other fields do not match", () => {
    expect(matching(container({ ".": {}, "f:name": {} }), pattern)).toEqual(container({}));
    expect(matching(container({ "f:name": {} }), pattern)).toEqual({});
  });
});
