import { describe, expect, test } from "vitest";
import { builtInKinds, builtInStruct, findKindSchema } from "./built-in-schema.ts";
import { type Schema, type StructSchema, childSchema, findField } from "./schema.ts";

function allStructs(): readonly StructSchema[] {
  const seen = new Set<StructSchema>();
  const visit = (schema: Schema | undefined): void => {
    if (schema === undefined) return;
    if (schema.type === "either") visit(schema.struct);
    else if (schema.type === "list") visit(schema.items);
    else if (schema.type === "map") visit(schema.values);
    else if (schema.type === "struct" && !seen.has(schema)) {
      seen.add(schema);
      for (const field of schema.fields) visit(field.schema);
    }
  };
  for (const [apiVersion, kind] of builtInKinds()) visit(findKindSchema(apiVersion, kind));
  return [...seen];
}

describe("built-in schemas", () => {
  test("every struct of every kind compiles, and no field shadows a member of Object.prototype", () => {
    const structs = allStructs();
    expect(structs.length).toBeGreaterThan(700);
    expect(structs.flatMap(({ fields }) => fields).filter(({ shadows }) => shadows)).toEqual([]);
  });

  test("findKindSchema finds a kind by apiVersion, and DeleteOptions in every group", () => {
    expect(findKindSchema("apps/v1", "Deployment")?.definition).toBe("apps.v1.Deployment");
    expect(findKindSchema("batch/v1", "DeleteOptions")?.definition).toBe("meta.v1.DeleteOptions");
    expect(findKindSchema("apps/v1", "Pod")).toBeUndefined();
  });

  test("a field has its list type, keys, strategies and default", () => {
    const spec = builtInStruct("core.v1.PodSpec");
    expect(findField(spec, "containers")).toMatchObject({
      schema: { type: "list", listType: "map", keys: ["name"] },
      patchStrategies: ["merge"],
      mergeKey: "name",
    });
    expect(findField(spec, "volumes")?.patchStrategies).toEqual(["merge", "retainKeys"]);
    expect(findField(spec, "nodeSelector")?.schema).toMatchObject({ type: "map", atomic: true });
    expect(findField(builtInStruct("core.v1.ServicePort"), "protocol")?.defaultValue).toBe("TCP");
  });

  test("a field's own marker overrides that of its type", () => {
    expect(builtInStruct("core.v1.ObjectReference").atomic).toBe(true);
    expect(findField(builtInStruct("core.v1.PersistentVolumeSpec"), "claimRef")?.schema).toMatchObject({
      atomic: false,
    });
  });

  test("fields that JSON flattens have the wire path of their message", () => {
    expect(findField(builtInStruct("core.v1.Volume"), "hostPath")?.wirePath).toEqual([2, 1]);
    expect(
      findField(builtInStruct("admissionregistration.v1.NamedRuleWithOperations"), "apiGroups")?.wirePath,
    ).toHaveLength(3);
  });

  test("a schema may contain itself", () => {
    const schema = builtInStruct("apiextensions.v1.JSONSchemaProps");
    expect(childSchema(schema, "not")).toBe(schema);
    expect(childSchema(childSchema(schema, "items") ?? schema, 0)).toBe(schema);
  });
});
