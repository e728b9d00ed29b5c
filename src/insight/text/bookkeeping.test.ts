import { expect, test } from "vitest";
import { fieldChanges } from "../../api/causes/field-changes.ts";
import { isBookkeeping } from "./bookkeeping.ts";

const REVISION = "deployment.kubernetes.io/revision";

const annotated = (annotations?: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web", ...(annotations && { annotations }) },
});

test.each([
  [{ [REVISION]: "1" }, { [REVISION]: "2" }, true],
  [undefined, { [REVISION]: "1" }, true],
  [{ [REVISION]: "1" }, undefined, true],
  [undefined, { [REVISION]: "1", team: "blue" }, false],
  [{ team: "red" }, { team: "blue" }, false],
  [{ [REVISION]: "1" }, { [REVISION]: "1", team: "blue" }, false],
])("annotations from %j to %j are bookkeeping: %s", (before, after, expected) => {
  const fields = fieldChanges(annotated(before), annotated(after), 10);

  expect(fields.map((field) => isBookkeeping(field))).toEqual([expected]);
});

test("other fields are none", () => {
  expect(isBookkeeping({ path: "spec.replicas", before: 1, after: 2 })).toBe(false);
  expect(isBookkeeping({ path: `metadata.labels[${REVISION}]`, after: "2" })).toBe(false);
});
