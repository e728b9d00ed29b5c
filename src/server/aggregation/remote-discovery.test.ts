import { describe, expect, test } from "vitest";
import { resourcesInList, resourcesInPlainList } from "./remote-discovery.ts";

const PLACE = { group: "wardle.example.com", version: "v1" };

describe("what another server says that it serves", () => {
  test("is taken from a plain list, subresources below their resources", () => {
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

    expect(resourcesInPlainList({ resources }, PLACE)).toEqual([
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

  test("is taken from a list of all groups as it stands, for the version that was asked about", () => {
    const resources = [{ resource: "flunders", scope: "Cluster" }, {}, 1];
    const items = [
      { metadata: { name: "other" }, versions: [{ version: "v1", resources: [] }] },
      { metadata: { name: PLACE.group }, versions: [{ version: "v2" }, { version: "v1", resources }] },
    ];

    expect(resourcesInList({ items }, PLACE)).toEqual([resources[0]]);
    expect(resourcesInList({ items }, { ...PLACE, version: "v3" })).toBeUndefined();
  });

  test.each([undefined, 1, "text", [], {}, { items: 1 }, { resources: {} }])(
    "may be nonsense: %j",
    (document) => {
      expect(resourcesInList(document, PLACE)).toBeUndefined();
      expect(resourcesInPlainList(document, PLACE)).toEqual([]);
    },
  );
});
