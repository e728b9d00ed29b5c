import { describe, expect, test } from "vitest";
import { resourcesInList, resourcesInPlainList } from "./remote-resources.ts";

const PLACE = { group: "wardle.example.com", version: "v1" };

describe("resources of an extension server", () => {
  test("resources of a plain list contain their subresources", () => {
    const resources = [
      { name: "flunders/status", kind: "Flunder", verbs: ["get"], namespaced: true },
      {
        name: "flunders",
        singularName: "flunder",
        namespaced: true,
        kind: "Flunder",
        verbs: ["get"],
        shortNames: ["fl"],
      },
      { name: "flunders/scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", 1] },
      { name: "orphans/status", kind: "Orphan", verbs: [] },
      { name: 1 },
      "nothing",
    ];

    expect(resourcesInPlainList({ resources }, PLACE).resources).toEqual([
      {
        resource: "flunders",
        responseKind: { ...PLACE, kind: "Flunder" },
        scope: "Namespaced",
        singularResource: "flunder",
        verbs: ["get"],
        shortNames: ["fl"],
        subresources: [
          { subresource: "status", responseKind: { ...PLACE, kind: "Flunder" }, verbs: ["get"] },
          {
            subresource: "scale",
            responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
            verbs: ["get"],
          },
        ],
      },
    ]);
  });

  test("resources of a version are taken from a list of all groups, with the members that clients know", () => {
    const kept = { resource: "flunders", scope: "Cluster", verbs: ["get"] };
    const resources = [{ ...kept, shortNames: [], odd: { more: "x" } }, {}, 1];
    const items = [
      { metadata: { name: "other" }, versions: [{ version: "v1", resources: [] }] },
      { metadata: { name: PLACE.group }, versions: [{ version: "v2" }, { version: "v1", resources }] },
    ];

    expect(resourcesInList({ items }, PLACE)).toEqual({ resources: [kept], leftOut: 0 });
    expect(resourcesInList({ items }, { ...PLACE, version: "v3" })).toBeUndefined();
  });

  test.each([undefined, 1, "text", [], {}, { items: 1 }, { resources: {} }])(
    "a malformed document has no resources: %j",
    (document) => {
      expect(resourcesInList(document, PLACE)).toBeUndefined();
      expect(resourcesInPlainList(document, PLACE)).toEqual({ resources: [], leftOut: 0 });
    },
  );

  test("the numbers of resources, subresources and texts are bounded in both forms", () => {
    const long = "x".repeat(254);
    const texts = Array.from({ length: 100 }, (_, at) => `t${String(at)}`);
    const named = Array.from({ length: 20_000 }, (_, at) => `r${String(at)}`);
    const below = Array.from({ length: 20_000 }, (_, at) => ({
      name: `r0/s${String(at)}`,
      kind: "S",
      verbs: ["get"],
    }));
    const plain = named.map((name) => ({ name, kind: long, verbs: texts, categories: [long] }));
    const full = named.map((resource) => ({ resource, scope: long, verbs: texts, shortNames: texts }));
    const items = [{ metadata: { name: PLACE.group }, versions: [{ version: "v1", resources: full }] }];

    const fromPlain = resourcesInPlainList({ resources: [...plain, ...below, { name: long }] }, PLACE);
    const fromFull = resourcesInList({ items }, PLACE);

    expect(fromPlain.leftOut).toBe(19_500 + 19_950);
    expect(fromPlain.resources).toHaveLength(500);
    expect(JSON.stringify(fromPlain.resources)).not.toContain("xxx");
    expect(fromFull?.leftOut).toBe(19_500);
    expect(JSON.stringify(fromFull).length).toBeLessThan(256 * 1024);
  });
});
