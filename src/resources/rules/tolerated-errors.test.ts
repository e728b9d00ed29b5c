import { expect, test } from "vitest";
import { isOldPodError } from "./tolerated-errors.ts";

test.each([
  ["spec.initContainers[0].resizePolicy", true],
  ["spec.template.spec.initContainers[12].resizePolicy", true],
  ["spec.containers[0].resizePolicy", false],
])("an update may keep an invalid %s: %s", (field, expected) => {
  expect(isOldPodError({ type: "FieldValueInvalid", field, body: "" })).toBe(expected);
});
