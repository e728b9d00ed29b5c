import { describe, expect, test } from "vitest";
import { mergedSpecs, remoteSpec } from "./remote-spec.ts";

const V1 = { group: "wardle.example.com", version: "v1" };
const FLUNDERS = "/apis/wardle.example.com/v1/flunders";

function using(definition: string): object {
  return { get: { responses: { "200": { schema: { $ref: `#/definitions/${definition}` } } } } };
}

describe("remoteSpec", () => {
  test("the spec of a version holds its paths and the definitions that they refer to", () => {
    const spec = remoteSpec(
      {
        paths: { [FLUNDERS]: using("Flunder"), "/apis/other/v1/x": using("Other"), "/version/": {} },
        definitions: {
          Flunder: { properties: { spec: { $ref: "#/definitions/Spec" }, none: null } },
          Spec: { type: "object", properties: { again: { $ref: "#/definitions/Flunder" } } },
          Other: { type: "object" },
        },
      },
      V1,
    );

    expect(Object.keys(spec?.paths ?? {})).toEqual([FLUNDERS]);
    expect(Object.keys(spec?.definitions ?? {}).toSorted()).toEqual(["Flunder", "Spec"]);
    expect(spec?.definitions["Flunder"]).toEqual({ properties: { spec: { $ref: "#/definitions/Spec" } } });
  });

  test("shared parameters are inlined, except for very long ones", () => {
    const get = { parameters: [{ $ref: "#/parameters/a-1" }, { $ref: "#/parameters/b-2" }, { $ref: "#/x" }] };
    const a = { in: "body", name: "a", schema: { $ref: "#/definitions/A" } };
    const parameters = { "a-1": a, "b-2": { in: "query", name: "b", description: "b".repeat(5000) } };

    const spec = remoteSpec({ paths: { [FLUNDERS]: { get } }, parameters, definitions: { A: {} } }, V1);

    expect(spec?.paths[FLUNDERS]).toEqual({ get: { parameters: [a, { $ref: "#/x" }] } });
    expect(Object.keys(spec?.definitions ?? {})).toEqual(["A"]);
  });

  test.each([undefined, "text", {}, { paths: [] }, { paths: { "/version/": {} } }])(
    "a document %s has no spec",
    (document) => {
      expect(remoteSpec(document, V1)).toBeUndefined();
    },
  );

  test("a document that is nested too deeply has no spec", () => {
    let definition: object = {};
    for (let i = 0; i < 1000; i++) definition = { items: definition };

    expect(
      remoteSpec({ paths: { [FLUNDERS]: using("A") }, definitions: { A: definition } }, V1),
    ).toBeUndefined();
  });
});

describe("mergedSpecs", () => {
  test("merged documents share equal definitions and those that this server has", () => {
    const spec = { paths: { "/a": using("Own") }, definitions: { Own: { type: "string" }, Known: {} } };
    const other = { paths: { "/b": using("Own") }, definitions: { Own: { type: "string" } } };

    expect(mergedSpecs([spec, other], new Set(["Known"]))).toEqual({
      paths: { "/a": using("Own"), "/b": using("Own") },
      definitions: { Own: { type: "string" } },
    });
  });

  test("merged documents keep different definitions with one name", () => {
    const first = { paths: { "/a": using("Own") }, definitions: { Own: { type: "string" } } };
    const second = {
      paths: { "/b": using("Own") },
      definitions: { Own: { properties: { next: { $ref: "#/definitions/Own" } } } },
    };

    expect(mergedSpecs([first, second], new Set())).toEqual({
      paths: { "/a": using("Own"), "/b": using("Own_v2") },
      definitions: {
        Own: { type: "string" },
        Own_v2: { properties: { next: { $ref: "#/definitions/Own_v2" } } },
      },
    });
  });
});
