import { describe, expect, test } from "vitest";
import { jsonToValue } from "../../../api/cel/cel-json-value.ts";
import { Run } from "../../../api/cel/run.ts";
import { DYN } from "../../../api/cel/type.ts";
import type { CelValue } from "../../../api/cel/value.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import {
  PolicyEnvironment,
  type ExpressionResult,
  EXPRESSION_RESULTS,
} from "../../../resources/admission/policy-environment.ts";
import { applyConfiguration } from "./apply-configuration.ts";
import { applyPatchExpression } from "./json-patch-expression.ts";

const schema = findKindSchema("apps/v1", "Deployment");
if (schema === undefined) throw new Error("there are Deployments");
const environment = new PolicyEnvironment({ hasParams: false, hasVariables: true, makesPatches: true });
const BUDGET = 100_000;

function deployment(metadata: object, containers: readonly object[]): JsonObject {
  const spec = { replicas: 1, selector: {}, template: { spec: { containers } } };
  return toNormalForm(schema as NonNullable<typeof schema>, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec,
  }).value;
}

const OBJECT = deployment({ labels: { x: "1", y: "2" } }, [{ name: "a" }, { name: "b" }]);

function evaluate(source: string, wanted: ExpressionResult): CelValue {
  const compiled = environment.compile(source, wanted);
  if ("mistake" in compiled) throw new Error(compiled.mistake);
  return compiled.program.evaluate({ object: jsonToValue(DYN, OBJECT) }, { budget: BUDGET });
}

function patched(source: string): JsonObject {
  return applyPatchExpression(evaluate(source, EXPRESSION_RESULTS.patch), OBJECT, new Run(BUDGET));
}

function applied(source: string): JsonObject {
  const value = evaluate(source, EXPRESSION_RESULTS.configuration);
  const to = { object: OBJECT, schema: schema as NonNullable<typeof schema> };
  return applyConfiguration(value, to, new Run(BUDGET));
}

function at(object: JsonObject, path: string): unknown {
  let found: unknown = object;
  for (const key of path.split(".")) found = (found as JsonObject)[key];
  return found;
}

const CONTAINERS = "spec.template.spec.containers";

describe("operations of a patch", () => {
  test.each([
    [
      "replace",
      `[JSONPatch{op: "replace", path: "/spec/replicas", value: object.spec.replicas + 2}]`,
      "spec.replicas",
      3,
    ],
    ["remove", `[JSONPatch{op: "remove", path: "/metadata/labels/y"}]`, "metadata.labels", { x: "1" }],
    [
      "copy",
      `[JSONPatch{op: "copy", from: "/metadata/labels/x", path: "/metadata/labels/z"}]`,
      "metadata.labels.z",
      "1",
    ],
    [
      "move",
      `[JSONPatch{op: "move", from: "/metadata/labels/x", path: "/metadata/labels/z"}]`,
      "metadata.labels",
      { y: "2", z: "1" },
    ],
    [
      "add",
      `[JSONPatch{op: "add", path: "/metadata/labels", value: {"k": "v"}}]`,
      "metadata.labels",
      { k: "v" },
    ],
    [
      "an unmet test",
      `[JSONPatch{op: "test", path: "/spec/replicas", value: 9}, JSONPatch{op: "remove", path: "/spec"}]`,
      "spec.replicas",
      1,
    ],
    [
      "a choice",
      `object.spec.replicas > 5 ? [JSONPatch{op: "remove", path: "/spec"}] : []`,
      "spec.replicas",
      1,
    ],
    [
      "fields of a patch",
      `[JSONPatch{op: "add", path: "/metadata/labels", value: {"op": JSONPatch{op: "o"}.op, "has": string(has(JSONPatch{}.from))}}]`,
      "metadata.labels",
      { op: "o", has: "false" },
    ],
  ])("%s", (...[, source, path, value]) => {
    expect(at(patched(source), path)).toEqual(value);
  });

  test("may add objects whose type matches their path", () => {
    const source = `[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{
      name: "x", ports: [Object.spec.template.spec.containers.ports{containerPort: 8080}]}}]`;

    expect(at(patched(source), CONTAINERS)).toMatchObject([
      { name: "a" },
      { name: "b" },
      { name: "x", ports: [{ containerPort: 8080 }] },
    ]);
  });

  test.each([
    [
      `[JSONPatch{op: "add", path: "/spec/x", value: Object.spec{ports: [Object.spec.portsZ{containerPort: 8080}]}}]`,
      'type mismatch: unexpected type name "Object.spec.portsZ", expected "Object.spec.ports"',
    ],
    [`[JSONPatch{op: "remove", path: "/none/x"}]`, "JSON Patch: "],
    [`[JSONPatch{op: "remove", path: ""}, JSONPatch{op: "add", path: "", value: 1}]`, "JSON Patch: "],
  ])("that are invalid are refused: %s", (source, message) => {
    expect(() => patched(source)).toThrow(message);
  });
});

describe("an apply configuration", () => {
  test("merges items by their keys and keeps unmentioned fields", () => {
    const source = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, image: c.name + ":1"})}}}}`;
    const result = applied(source);

    expect(at(result, CONTAINERS)).toMatchObject([
      { name: "a", image: "a:1" },
      { name: "b", image: "b:1" },
    ]);
    expect(at(result, "metadata.labels")).toEqual({ x: "1", y: "2" });
  });

  test("omits absent optional fields, and an empty configuration changes nothing", () => {
    expect(at(applied("Object{spec: Object.spec{?replicas: optional.none()}}"), "spec.replicas")).toBe(1);
    expect(applied("Object{}")).toBe(OBJECT);
  });

  test("names every atomic value that would be replaced", () => {
    const source = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
      Object.spec.template.spec.containers{name: "a", args: ["x"], command: ["y"]}]}}}}`;

    expect(() => applied(source)).toThrow(
      "may not mutate atomic arrays, maps or structs: .spec.template.spec.containers[0].args, .spec.template.spec.containers[0].command",
    );
  });
});
