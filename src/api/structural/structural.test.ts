import { describe, expect, test } from "vitest";
import { FieldErrors, FieldPath, fieldErrorText, fieldPath } from "../errors/field-error.ts";
import { hasFormat } from "../formats/formats.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import type { JsonObject } from "../json/json-object.ts";
import { toCustomNormalForm } from "./custom-normal-form.ts";
import { withDefaults } from "./default-values.ts";
import { checkEmbedded } from "./embedded-check.ts";
import { checkSchema } from "./schema-check.ts";
import { kindStruct } from "./schema-nodes.ts";
import { checkStructural } from "./structural-check.ts";
import { compileStructural } from "./structural.ts";
import { checkValue } from "./value-check.ts";

/** The schema of a kind with these properties in its spec. */
function kind(properties: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps {
  return { type: "object", properties: { spec: { type: "object", properties } } };
}

function shaped(schema: JSONSchemaProps, value: JsonObject): { value: unknown; unknownFields: unknown } {
  return toCustomNormalForm(compileStructural(schema), value);
}

function problems(schema: JSONSchemaProps, value: unknown, previous?: unknown): readonly string[] {
  const errors = new FieldErrors();
  checkValue({ schema: compileStructural(schema), value, previous }, "", errors);
  return errors.found.map(fieldErrorText);
}

describe("the normal form of a custom resource", () => {
  const schema = kind({
    a: { type: "string" },
    open: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { in: { type: "object" } },
    },
    map: { type: "object", additionalProperties: { type: "object", properties: { x: { type: "string" } } } },
    list: { type: "array", items: { type: "object", properties: { x: { type: "string" } } } },
    pod: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
  });

  test("lists the dropped fields", () => {
    const spec = {
      a: "x",
      b: 1,
      map: { k: { x: "1", y: 2 } },
      list: [{ x: "1" }, { y: 2 }],
      open: { z: { y: 1 }, in: { c: 1 } },
    };

    expect(shaped(schema, { kind: "K", spec, other: 1 })).toEqual({
      value: {
        kind: "K",
        spec: { a: "x", list: [{ x: "1" }, {}], map: { k: { x: "1" } }, open: { in: {}, z: { y: 1 } } },
      },
      unknownFields: ["other", "spec.b", "spec.list[1].y", "spec.map.k.y", "spec.open.in.c"],
    });
  });

  test("is the value itself when there is nothing to change", () => {
    const value = {
      apiVersion: "v1",
      kind: "K",
      metadata: { name: "a" },
      spec: { a: "x", open: { b: [{ c: 1 }] } },
    };

    expect(shaped(schema, value).value).toBe(value);
  });

  test("has standard metadata", () => {
    const value = {
      metadata: { name: "a", labels: {}, odd: 1 },
      spec: { pod: { metadata: { odd: 1, name: "b" }, spec: {} } },
    };

    expect(shaped(schema, value)).toEqual({
      value: { metadata: { name: "a" }, spec: { pod: { metadata: { name: "b" }, spec: {} } } },
      unknownFields: ["metadata.odd", "spec.pod.metadata.odd"],
    });
  });

  test("treats names of inherited properties as data", () => {
    const value = JSON.parse(
      '{"spec":{"__proto__":{"x":1},"open":{"constructor":1,"__proto__":2}}}',
    ) as JsonObject;

    const { value: result, unknownFields } = shaped(schema, value);

    expect(JSON.stringify(result)).toBe('{"spec":{"open":{"__proto__":2,"constructor":1}}}');
    expect(unknownFields).toEqual(["spec.__proto__"]);
  });

  test("has no null where the schema forbids it", () => {
    const nullable = kind({ a: { type: "string" }, b: { type: "string", nullable: true } });

    expect(shaped(nullable, { spec: { a: null, b: null } }).value).toEqual({ spec: { b: null } });
  });
});

describe("defaults", () => {
  const schema = compileStructural(
    kind({
      a: { type: "string", default: "x" },
      b: { type: "string", nullable: true, default: "y" },
      inner: { type: "object", default: {}, properties: { c: { type: "integer", default: 1 } } },
      list: {
        type: "array",
        items: { type: "object", properties: { d: { type: "boolean", default: true } } },
      },
    }),
  );

  test("replace missing fields and forbidden nulls", () => {
    expect(withDefaults(schema, { spec: { a: null, b: null, list: [{}, { d: false }] } })).toEqual({
      spec: { a: "x", b: null, inner: { c: 1 }, list: [{ d: true }, { d: false }] },
    });
  });

  test("keep a complete value as it is, and are copied for each object", () => {
    const value = withDefaults(schema, { spec: {} }) as { spec: { inner: object } };
    const other = withDefaults(schema, { spec: {} }) as { spec: { inner: object } };

    expect(withDefaults(schema, value)).toBe(value);
    expect(value.spec.inner).not.toBe(other.spec.inner);
  });

  test("apply only inside an existing object", () => {
    expect(withDefaults(schema, {})).toEqual({});
  });
});

describe("validation", () => {
  test.each<[JSONSchemaProps, unknown, readonly string[]]>([
    [
      { type: "integer" },
      1.5,
      [
        '<nil>: Invalid value: "number":  in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in ',
      ],
    ],
    [
      { type: "integer" },
      2 ** 63,
      [
        '<nil>: Invalid value: "number":  in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in ',
      ],
    ],
    [{ type: "integer", format: "int64" }, 2n ** 62n, []],
    [{ type: "integer", format: "int32" }, 2 ** 31 - 1, []],
    [
      { type: "integer", format: "int32" },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in '],
    ],
    [{ type: "number", format: "int32" }, 2 ** 31, []],
    [
      { type: "number", format: "float" },
      3.5e38,
      ['<nil>: Invalid value: "": Checked value must be of type number with format float in '],
    ],
    [{ type: "number", format: "double" }, 3.5e38, []],
    [{ type: "number" }, 1, []],
    [{ type: "string" }, null, ['<nil>: Invalid value: "null":  in body must be of type string: "null"']],
    [{ type: "string", nullable: true }, null, []],
    [{ type: "integer", multipleOf: 3 }, 4, ["<nil>: Invalid value: 4:  in body should be a multiple of 3"]],
    [
      { type: "integer", maximum: 9007199254740991 },
      2n ** 60n,
      [expect.stringContaining("less than or equal to") as string],
    ],
    [
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      1,
      ["<nil>: Invalid value: 1:  in body should be greater than 1"],
    ],
    [
      { type: "string", minLength: 2 },
      "é",
      ['<nil>: Invalid value: "é":  in body should be at least 2 chars long'],
    ],
    [
      { type: "string", maxLength: 2, pattern: "^[a-z]*$", format: "ipv4" },
      "A.B",
      [
        "<nil>: Too long: may not be more than 2 bytes",
        '<nil>: Invalid value: "A.B":  in body must be of type ipv4: "A.B"',
      ],
    ],
    [
      { type: "array", minItems: 1, items: {} },
      [],
      ["<nil>: Invalid value: 0:  in body should have at least 1 items"],
    ],
    [{ type: "array", maxItems: 1, items: {} }, [1, 2], ["<nil>: Too many: 2: must have at most 1 item"]],
    [
      { type: "object", minProperties: 1 },
      {},
      ["<nil>: Invalid value: 0:  in body should have at least 1 properties"],
    ],
    [{ type: "object", maxProperties: 0 }, { a: 1 }, ["<nil>: Too many: 1: must have at most 0 items"]],
    [{ type: "integer", enum: [1, 2] }, 3, ['<nil>: Unsupported value: 3: supported values: "1", "2"']],
    [
      { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      ['<nil>: Invalid value: "": "" must validate at least one schema (anyOf)', "a: Required value"],
    ],
    [
      { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      { a: 1, b: 1 },
      [
        '<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      { allOf: [{ required: ["a"] }, { required: ["b"] }] },
      { a: 1 },
      ["b: Required value", '<nil>: Invalid value: "": "" must validate all the schemas (allOf)'],
    ],
    [
      { not: { required: ["a"] } },
      { a: 1 },
      ['<nil>: Invalid value: "": "" must not validate the schema (not)'],
    ],
  ])("%j: %#", (schema, value, texts) => {
    expect(problems(schema, value)).toEqual(texts);
  });

  test("skips unchanged values wherever the previous value is known", () => {
    const schema = kind({
      a: { type: "string", maxLength: 1 },
      map: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
        items: { type: "object", properties: { n: { type: "string" }, v: { type: "integer" } } },
      },
      atomic: { type: "array", items: { type: "integer" } },
    });
    const before = { spec: { a: "long", map: [{ n: "x", v: "bad" }], atomic: ["bad"] } };
    const after = { spec: { a: "long", map: [{ n: "y" }, { n: "x", v: "bad" }], atomic: ["bad", "worse"] } };

    expect(problems(schema, after, before)).toEqual([
      'spec.atomic[0]: Invalid value: "string": spec.atomic[0] in body must be of type integer: "string"',
      'spec.atomic[1]: Invalid value: "string": spec.atomic[1] in body must be of type integer: "string"',
    ]);
  });

  test("takes time linear in the text, whatever the pattern", () => {
    const schema: JSONSchemaProps = { type: "string", pattern: "^(a+)+$" };

    expect(problems(schema, `${"a".repeat(5000)}b`)).toHaveLength(1);
  });

  test("does not match a large pattern against a large text", () => {
    const schema: JSONSchemaProps = { type: "string", pattern: "(a?){500}a{500}" };

    expect(problems(schema, "a".repeat(1000))).toEqual([]);
    expect(problems(schema, "a".repeat(1_000_000))).toHaveLength(1);
  });

  test("validates the metadata of embedded objects", () => {
    const schema = compileStructural(
      kind({ pod: { type: "object", "x-kubernetes-embedded-resource": true } }),
    );
    const errors = new FieldErrors();

    checkEmbedded(
      { schema, value: { spec: { pod: { kind: "1x", metadata: { name: "a/b" } } } } },
      new FieldPath(""),
      errors,
    );

    expect(errors.found.map(({ field }) => field)).toEqual([
      "spec.pod.apiVersion",
      "spec.pod.kind",
      "spec.pod.metadata.name",
    ]);
  });
});

describe("formats", () => {
  test.each([
    ["date-time", "2026-01-02T03:04:05Z", "2026-13-02T03:04:05Z"],
    ["date", "2026-02-28", "2026-02-30"],
    ["duration", "1h30m", "1 fortnight"],
    ["email", "Ann <a@example.com>", "a@"],
    ["hostname", "a.example.com", "-a.example.com"],
    ["ipv4", "10.0.0.1", "10.0.0.256"],
    ["ipv6", "::1", "10.0.0.1"],
    ["cidr", "10.0.0.0/8", "10.0.0.0"],
    ["uri", "https://example.com/x", "not a uri"],
    ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"],
    ["byte", "aGk=", "a"],
    ["mac", "00:1a:2b:3c:4d:5e", "00:1a"],
    ["isbn13", "978-0321751041", "978-0321751042"],
    ["creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"],
    ["rgbcolor", "rgb(1,2,3)", "rgb(1,2,300)"],
    ["k8s-short-name", "a-b", "A"],
    ["date-time", "2026-01-02t03:04:05.1+01:00", "2026-01-02T03:04:05"],
    ["duration", "5 minutes and 3 sec", "1hrs"],
    ["duration", "12d3", "99999999999999999999d"],
    ["email", '"a b"@c.d', '"a b@c.d'],
    ["hostname", "a-b", "a-b-c"],
    ["hostname", "a-b-c.example", "example.c"],
    ["hostname", "1", "10.0.0.1"],
    ["ipv4", "010.0.0.1", "::1"],
    ["ipv4", "::ffff:1.2.3.4", "1.2.3"],
    ["cidr", "010.0.0.0/8", "10.0.0.0/33"],
    ["byte", "YQ==", ""],
    ["mac", "0011.2233.4455", "00:1a:2b:3c:4d:5e:6f"],
    ["mac", "001122334455", "00:11-22:33:44:55"],
    ["ssn", "123-45 6789", "123456789"],
    ["isbn13", "1234567890128", "123456789012"],
    ["rgbcolor", "rgb( 0 , 99,255)", "rgb(01,2,3)"],
  ])("%s: %s, not %s", (format, good, bad) => {
    expect(hasFormat(format, good)).toBe(true);
    expect(hasFormat(format, bad)).toBe(false);
  });

  test.each(["*", "/a b", "//a b", "a:b", "http:", "http://[::1]:80/", "http://a:/", "http://ü/", "u:%zz"])(
    "the URI %s is valid",
    (text) => {
      expect(hasFormat("uri", text)).toBe(true);
    },
  );

  test.each(["a/b", "http://a:b/", "http://a/%zz", "http://a b/", "/a\n", "?x", "1:a", "http://[::1"])(
    "the URI %s is invalid",
    (text) => {
      expect(hasFormat("uri", text)).toBe(false);
    },
  );

  test("that are unknown accept every text", () => {
    expect(hasFormat("int-or-string", "x")).toBe(true);
    expect(hasFormat("", "x")).toBe(true);
  });
});

describe("a schema", () => {
  function mistakes(schema: JSONSchemaProps): readonly string[] {
    const errors = new FieldErrors();
    checkStructural(schema, fieldPath("s"), errors);
    checkSchema(schema, fieldPath("s"), errors);
    return errors.found.map(fieldErrorText);
  }

  test.each<[JSONSchemaProps, readonly string[]]>([
    [{ type: "object" }, []],
    [{}, ["s.type: Required value: must not be empty at the root"]],
    [{ type: "object", "x-kubernetes-preserve-unknown-fields": true }, []],
    [
      { type: "object", additionalProperties: { type: "string" } },
      ["s.additionalProperties: Forbidden: must not be used at the root"],
    ],
    [
      kind({ a: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] } }),
      [],
    ],
    [kind({ a: { type: "string", default: "x", nullable: true } }), []],
    [
      { type: "object", properties: { kind: { type: "string", default: "K" } } },
      ["s.properties[kind].default: Forbidden: must not be set in top-level kind"],
    ],
    [
      kind({ a: { type: "thing" } }),
      [
        's.properties[spec].properties[a].type: Unsupported value: "thing": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      kind({ a: { type: "array", items: { type: "string" }, uniqueItems: true } }),
      [
        "s.properties[spec].properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ],
    ],
    [
      kind({
        a: {
          type: "object",
          properties: { b: { type: "string" } },
          additionalProperties: { type: "string" },
        },
      }),
      [
        "s.properties[spec].properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
      ],
    ],
    [
      { type: "object", oneOf: [{ properties: { b: { minimum: 1 } } }] },
      ["s.properties[b]: Required value: because it is defined in s.oneOf[0].properties[b]"],
    ],
    [
      kind({
        a: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["n"],
          items: { type: "object", properties: { n: { type: "string" } } },
        },
      }),
      [
        "s.properties[spec].properties[a].items.properties[n].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
      ],
    ],
    [
      kind({ a: { type: "string", "x-kubernetes-validations": [{ rule: " " }] } }),
      [
        "s.properties[spec].properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
      ],
    ],
  ])("%j", (schema, texts) => {
    expect(mistakes(schema)).toEqual(texts);
  });

  test("converts to the nodes that apply uses", () => {
    const schema = compileStructural(
      kind({
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        map: { type: "object", additionalProperties: { type: "integer" }, "x-kubernetes-map-type": "atomic" },
      }),
    );

    const struct = kindStruct({ group: "example.com", version: "v1", kind: "K" }, schema);
    const spec = struct.byName.get("spec")?.schema;

    expect([...struct.byName.keys()]).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    expect(spec?.type === "struct" && spec.byName.get("set")?.schema).toMatchObject({
      type: "list",
      listType: "set",
      items: { type: "string" },
    });
    expect(spec?.type === "struct" && spec.byName.get("map")?.schema).toMatchObject({
      type: "map",
      atomic: true,
    });
  });
});
