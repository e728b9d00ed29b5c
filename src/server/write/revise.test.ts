import { expect, test } from "vitest";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import { Registry, requireStored } from "../objects/registry.ts";
import { newObject } from "./revise.ts";

test("rules replace members of a frozen spec in a copy", () => {
  const rules = {
    prepareCreate: (draft: Draft<ApiObject>): void => {
      (draft as Draft<ApiObject> & { spec: { priority?: number } }).spec.priority = 2;
    },
  };
  const registry = new Registry([{ apiVersion: "v1", kind: "Pod", rules }]);
  const spec = Object.freeze({ containers: [], priority: 1 });
  const draft = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b" }, spec };
  const context = { now: 0, user: { name: "admin", uid: "", groups: [], extra: {} }, uid: "1" };

  const made = newObject(draft as Draft<ApiObject>, requireStored(registry, "", "pods"), context);

  expect([made, draft]).toMatchObject([{ spec: { priority: 2 } }, { spec: { priority: 1 } }]);
});
