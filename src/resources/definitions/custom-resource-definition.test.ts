import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";

const probe = new KindProbe(customResourceDefinition);
const metadata = { name: "widgets.example.com" };
const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
const spec = {
  group: "example.com",
  scope: "Namespaced",
  names: { plural: "widgets", kind: "Widget" },
  versions: [version],
};

const schemaVersion = (a: Manifest): Manifest => ({
  ...version,
  schema: { openAPIV3Schema: { type: "object", properties: { a } } },
});
const ruled = (rule: Manifest): Manifest => ({
  type: "string",
  maxLength: 10,
  "x-kubernetes-validations": [rule],
});

describe("a CustomResourceDefinition", () => {
  test("warns once about formats that the server does not enforce", () => {
    const formatted = (format: string): Manifest => {
      const properties = {
        a: { type: "array", items: { type: "string", format } },
        b: { type: "integer", format: "int32" },
        c: { anyOf: [{ format: "date-time" }] },
      };
      return {
        ...spec,
        versions: [{ ...version, schema: { openAPIV3Schema: { type: "object", properties } } }],
      };
    };
    const odd = { metadata, spec: formatted("int32") };

    expect(probe.warnings(odd)).toEqual(['unrecognized format "int32"']);
    expect(probe.updateWarnings(odd, odd)).toEqual([]);
    expect(probe.updateWarnings({ metadata, spec: formatted("odd") }, odd)).toEqual([
      'unrecognized format "odd"',
    ]);
    expect(probe.warnings({ metadata, spec: formatted("k8s-short-name") })).toEqual([]);
  });

  test("gets names, a conversion and a stored version by default", () => {
    expect(probe.created({ metadata, spec })).toMatchObject({
      spec: { names: { singular: "widget", listKind: "WidgetList" }, conversion: { strategy: "None" } },
      status: { storedVersions: ["v1"] },
    });
  });

  test.each([
    [{}, []],
    [
      { group: "example.org" },
      ['metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      { scope: "Everywhere" },
      ['spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"'],
    ],
    [
      { names: { plural: "widgets", singular: "widget", kind: "bad kind" } },
      [
        expect.stringMatching(
          /^spec.names.kind: Invalid value: "bad kind": may have mixed case, but should otherwise match: a DNS-1035 label/,
        ),
        expect.stringMatching(/^spec.names.listKind: Invalid value: "bad kindList": may have mixed case/),
      ],
    ],
    [
      { versions: [{ ...version, name: "V1" }] },
      [
        expect.stringMatching(/^spec.versions\[0\].name: Invalid value: "V1": a DNS-1035 label/),
        expect.stringMatching(/^spec.version: Invalid value: "V1": a DNS-1035 label/),
      ],
    ],
    [
      { conversion: { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } } },
      [
        "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
      ],
    ],
    [
      {
        conversion: {
          strategy: "Webhook",
          webhook: {
            conversionReviewVersions: ["v1"],
            clientConfig: { service: { name: "", namespace: "" } },
          },
        },
      },
      [
        "spec.conversion.webhookClientConfig.service.name: Required value",
        "spec.conversion.webhookClientConfig.service.namespace: Required value",
      ],
    ],
    [
      {
        versions: [
          {
            ...version,
            selectableFields: [{ jsonPath: "spec.x" }, { jsonPath: ".a[0]" }, { jsonPath: ".b" }],
          },
        ],
      },
      [
        'spec.selectableFields[0].jsonPath: Invalid value: "spec.x": is an invalid path: expected [ or . but got: spec',
        'spec.selectableFields[1].jsonPath: Invalid value: ".a[0]": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[2].jsonPath: Invalid value: ".b": is an invalid path: does not refer to a valid field',
      ],
    ],
    [
      {
        versions: [
          {
            ...schemaVersion({ type: "string" }),
            selectableFields: [{ jsonPath: "$.a" }, { jsonPath: '["a"]' }, { jsonPath: ".b[0]" }],
          },
        ],
      },
      [
        'spec.selectableFields[0].jsonPath: Invalid value: "$.a": is an invalid path: expected [ or . but got: $',
        'spec.selectableFields[1].jsonPath: Invalid value: "[\\"a\\"]": is an invalid path: array notation is not allowed',
        'spec.selectableFields[2].jsonPath: Invalid value: ".b[0]": is an invalid path: does not refer to a valid field',
      ],
    ],
    [
      {
        versions: [
          schemaVersion({
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
            default: { kind: "Pod" },
          }),
        ],
      },
      ["spec.validation.openAPIV3Schema.properties[a].default.apiVersion: Required value"],
    ],
    [
      { versions: [schemaVersion({ type: "string", $schema: "http://json-schema.org/schema#" })] },
      [`spec.validation.openAPIV3Schema: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      { versions: [schemaVersion({ type: "string", $schema: "x", id: "y" })] },
      ["spec.validation.openAPIV3Schema.properties[a].id: Forbidden: id is not supported"],
    ],
    [
      {
        versions: [
          {
            ...version,
            schema: { openAPIV3Schema: { type: "object", default: { metadata: { name: "-" } } } },
          },
        ],
      },
      [
        "spec.validation.openAPIV3Schema.default.apiVersion: Required value",
        "spec.validation.openAPIV3Schema.default.kind: Required value",
      ],
    ],
    [
      {
        versions: [
          {
            ...version,
            schema: { openAPIV3Schema: { type: "object", default: { apiVersion: "v1", kind: "A", a: 1 } } },
          },
        ],
      },
      [expect.stringMatching(/openAPIV3Schema.default: Invalid value: .*: must not have unknown fields$/)],
    ],
    [
      {
        versions: [
          {
            ...version,
            schema: { openAPIV3Schema: { type: "object", default: { apiVersion: "v1", kind: "A" } } },
          },
        ],
      },
      [],
    ],
    [
      { versions: [schemaVersion({ type: "array", items: [{ type: "string" }] })] },
      [
        "spec.validation.openAPIV3Schema.properties[a].items: Forbidden: items must be a schema object and not an array",
      ],
    ],
    [
      { versions: [schemaVersion(ruled({ rule: "true", optionalOldSelf: true }))] },
      [
        "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
      ],
    ],
    [{ versions: [schemaVersion(ruled({ rule: "!oldSelf.hasValue()", optionalOldSelf: true }))] }, []],
    [
      {
        versions: [
          schemaVersion({
            type: "object",
            properties: { "b's": { type: "string" } },
            "x-kubernetes-validations": [
              { rule: "true", fieldPath: ".b's" },
              { rule: "true", fieldPath: "['b\\'s']" },
            ],
          }),
        ],
      },
      [],
    ],
    [
      { versions: [schemaVersion(ruled({ rule: "true", fieldPath: ".x" }))] },
      [
        'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].fieldPath: Invalid value: ".x": must be a valid path',
      ],
    ],
    [
      { versions: [{ ...version, storage: false }] },
      [
        expect.stringMatching(
          /^spec.versions: Invalid value: .*: must have exactly one version marked as storage version$/,
        ),
        "status.storedVersions: Invalid value: []: must have at least one stored version",
      ],
    ],
    [
      { versions: [version, { ...version, storage: false }] },
      [expect.stringMatching(/^spec.versions: Invalid value: .*: must contain unique version names$/)],
    ],
    [
      { versions: [{ ...version, schema: undefined }] },
      ["spec.versions[0].schema.openAPIV3Schema: Required value"],
    ],
    [
      { names: { ...spec.names, listKind: "Widget" } },
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      { conversion: { strategy: "Webhook" } },
      [
        "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
        "spec.conversion.conversionReviewVersions: Required value",
      ],
    ],
  ])("has valid names and versions: %#", (change, problems) => {
    expect(probe.problems({ metadata, spec: { ...spec, ...change } })).toEqual(problems);
  });

  test("keeps its group and plural, also when its name differs from them", () => {
    const next = { metadata, spec: { ...spec, group: "example.org" } };

    expect(probe.updateProblems(next, { metadata, spec })).toEqual([
      'spec.group: Invalid value: "example.org": field is immutable',
    ]);
  });

  test("has valid accepted names in its status, and any stored versions", () => {
    const acceptedNames = { plural: "X", kind: "Widget" };

    expect(
      probe.statusProblems({ metadata, spec, status: { storedVersions: ["v9"] } }, { metadata, spec }),
    ).toEqual([]);
    expect(probe.statusProblems({ metadata, spec, status: { acceptedNames } }, { metadata, spec })).toEqual([
      expect.stringMatching(/^status.acceptedNames.plural: Invalid value: "X": a DNS-1035 label/),
    ]);
  });

  test("keeps every version in which objects may be stored", () => {
    const v2 = { ...version, name: "v2" };
    const status = { storedVersions: ["v1"] };

    expect(
      probe.updated(
        { metadata, spec: { ...spec, versions: [{ ...version, storage: false }, v2] }, status },
        { metadata, spec },
      ),
    ).toMatchObject({ status: { storedVersions: ["v1", "v2"] } });
    expect(
      probe.updateProblems({ metadata, spec: { ...spec, versions: [v2] }, status }, { metadata, spec }),
    ).toEqual([
      expect.stringMatching(
        /^status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was/,
      ),
    ]);
  });
});
