import { expect, test } from "vitest";
import { podFromTemplate } from "./pod-from-template.ts";

const TEMPLATE = { metadata: {}, spec: { containers: [] } };

function ownerNamed(name: string): Parameters<typeof podFromTemplate>[0] {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, uid: "u" } };
}

test("generateName is the owner's whole name and a dash, also beside an explicit name", () => {
  const long = "a".repeat(60);

  expect(podFromTemplate(ownerNamed("web"), TEMPLATE).metadata).toMatchObject({ generateName: "web-" });
  expect(podFromTemplate(ownerNamed(long), TEMPLATE).metadata?.generateName).toBe(`${long}-`);
  expect(podFromTemplate(ownerNamed("db"), TEMPLATE, "db-0").metadata).toMatchObject({
    generateName: "db-",
    name: "db-0",
  });
});

test("generateName omits a dash that would exceed the length limit", () => {
  const longest = "a".repeat(253);

  expect(podFromTemplate(ownerNamed(longest), TEMPLATE).metadata?.generateName).toBe(longest);
});
