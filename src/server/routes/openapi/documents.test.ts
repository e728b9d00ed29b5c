import { expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import { CustomKinds } from "../../custom/custom-kinds.ts";
import { createEgress } from "../../egress/create-egress.ts";
import { Registry } from "../../objects/registry.ts";
import type { Document } from "../../representation/bytes/document.ts";
import { OpenApiDocuments } from "./documents.ts";

const NAMES = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };

function definition(description: string): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com", uid: "0000" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: NAMES,
      versions: [
        {
          name: "v1",
          schema: { openAPIV3Schema: { type: "object", description } },
          served: true,
          storage: true,
        },
      ],
    },
    status: {
      acceptedNames: NAMES,
      conditions: [{ type: "Established", status: "True" }],
      storedVersions: ["v1"],
    },
  };
}

test("one hash names one document, also when its kind changes while the document is created", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const store = openMemoryStore({ loop: loop.child("store") });
  const custom = new CustomKinds(store, { loop, egress: createEgress({ loop, store }) });
  const documents = new OpenApiDocuments(new Registry([], undefined, { custom }), loop);
  const define = async (description: string): Promise<void> => {
    const key = "/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com";
    const value = Buffer.from(JSON.stringify(definition(description)));
    await loop.finish(store.write({ changes: [{ type: "put", key, value }] }));
  };
  const make = (): Promise<Document> => documents.findV3("apis/example.com/v1") ?? Promise.reject();
  const known = new Map<string, string>();
  const note = ({ hash, bytes }: Document): boolean => {
    const text = Buffer.from(bytes).toString();
    const same = known.get(hash) ?? text;
    known.set(hash, same);
    return same === text;
  };

  for (let steps = 0; steps < 30; steps++) {
    await define(`As it was ${String(steps)}.`);
    const making = make();
    let left = steps;
    await loop.until(() => left-- === 0 || loop.isQuiet);
    await define(`As it is ${String(steps)}.`);
    const made = [await loop.finish(making), await loop.finish(make())];

    expect(made.map(note), `after ${String(steps)} steps`).toEqual([true, true]);
  }
});
