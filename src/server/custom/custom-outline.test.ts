import { describe, expect, test } from "vitest";
import type { Entry } from "../../store/store.ts";
import { findOutline } from "./custom-outline.ts";

function entry(value: object): Entry {
  return {
    key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com",
    value: Buffer.from(JSON.stringify(value)),
    createRevision: 5,
    modRevision: 7,
    version: 1,
    ordinal: 0,
    expiresAt: undefined,
    slot: undefined,
  };
}

const NAMES = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };

function definition({ description = "A thing.", labels = {}, conditions = ["Established"] } = {}): object {
  const openAPIV3Schema = { type: "object", description };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com", labels, uid: "0000" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: NAMES,
      versions: [{ name: "v1", schema: { openAPIV3Schema }, served: true, storage: true }],
    },
    status: {
      acceptedNames: NAMES,
      conditions: conditions.map((type) => ({ type, status: "True" })),
      storedVersions: ["v1"],
    },
  };
}

describe("the edition of a definition", () => {
  const editionOf = (value: object): string | undefined => findOutline(entry(value))?.edition();

  test.each([
    ["short", "A thing."],
    ["long", "A thing. ".repeat(100)],
  ])("is the same as long as a %s spec and its served names are", (_, description) => {
    const edition = editionOf(definition({ description }));

    const relabelled = definition({ description, labels: { a: "b" } });
    const accepted = definition({ description, conditions: ["Established", "NamesAccepted"] });
    expect([editionOf(relabelled), editionOf(accepted)]).toEqual([edition, edition]);
    expect(editionOf(definition({ description: `${description} Or two.` }))).not.toBe(edition);
    expect(editionOf(definition({ description, conditions: [] }))).not.toBe(edition);
  });
});
