import { describe, expect, test } from "vitest";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { KindProbe } from "./kind-probe.ts";

const probe = new KindProbe(customResourceDefinition);
const metadata = { name: "widgets.example.com" };
const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
const spec = {
  group: "example.com",
  scope: "Namespaced",
  names: { plural: "widgets", kind: "Widget" },
  versions: [version],
};

describe("a CustomResourceDefinition", () => {
  test("has names, a conversion and a stored version by default", () => {
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
      { versions: [{ ...version, storage: false }] },
      [
        expect.stringMatching(
          /^spec.versions: Invalid value: .*: must have exactly one version marked as storage version$/,
        ),
      ],
    ],
    [
      { versions: [version, { ...version, storage: false }] },
      [expect.stringMatching(/^spec.versions: Invalid value: .*: must contain unique version names$/)],
    ],
    [
      { versions: [{ ...version, schema: undefined }] },
      ["spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"],
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
  ])("names a kind and its versions: %#", (change, problems) => {
    expect(probe.problems({ metadata, spec: { ...spec, ...change } })).toEqual(problems);
  });

  test("keeps every version that objects may lie in", () => {
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
