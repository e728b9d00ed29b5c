import { expect, test } from "vitest";
import type { Change } from "../../api/causes/change.ts";
import { knownChanges, unrecordedTexts } from "./read-changes.ts";

function write(revision: string, user?: string): Change {
  return {
    apiVersion: "causes.setpoint.dev/v1",
    kind: "Change",
    metadata: { name: `a.${revision}` },
    revision,
    operation: "Updated",
    object: { group: "", kind: "ConfigMap", resource: "configmaps", namespace: "default", name: "a" },
    author: user === undefined ? { manager: "kubectl" } : { user },
  };
}

test.each([
  ["no unknown author", [write("5", "jo")], []],
  ["a write before the journal", [write("3"), write("5", "jo")], [/remembers them since rev 4, in memory/]],
  ["a write through another server", [write("5", "jo"), write("6")], [/went through another server/]],
  ["both", [write("3"), write("6")], [/in memory/, /another server/]],
])("%s is told with the right reason", (_, items, expected) => {
  const texts = unrecordedTexts(knownChanges({ items, authorsSince: "4" }));

  expect(texts).toHaveLength(expected.length);
  for (const [at, each] of expected.entries()) expect(texts[at]).toMatch(each);
});
