import { expect, test } from "vitest";
import { Deployment } from "../../api/generated/types/apps-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { isOfType } from "./owner-reference.ts";

const NAMED = { name: "web", uid: "u1" };

test.each([
  ["apps/v1", "Deployment", true],
  ["apps/v1beta1", "Deployment", true],
  ["apps.example.com/v1", "Deployment", false],
  ["v1", "Deployment", false],
  ["apps/v1", "ReplicaSet", false],
])("an owner %s %s is a Deployment: %s", (apiVersion, kind, isOne) => {
  expect(isOfType({ ...NAMED, apiVersion, kind }, Deployment)).toBe(isOne);
});

test("an owner of the core group is told from one of another group", () => {
  expect(isOfType({ ...NAMED, apiVersion: "v1", kind: "Pod" }, Pod)).toBe(true);
  expect(isOfType({ ...NAMED, apiVersion: "example.com/v1", kind: "Pod" }, Pod)).toBe(false);
});
