import { expect, test } from "vitest";
import { keyOf } from "../../objects/versions.ts";
import { ServerFixture } from "../fixture.ts";
import type { RequiredObject } from "../required-objects.ts";
import { ServerWriter } from "../server-writer.ts";
import { apiServices } from "./api-services.ts";

/** The stored text without uids and times. */
function storedText({ verbParts }: ServerFixture, { resource, namespace, name }: RequiredObject): string {
  const entry = verbParts.store.view.get(keyOf(resource, namespace, name));
  return Buffer.from(entry?.value ?? [])
    .toString()
    .replace(/"uid":"[^"]*"/, '"uid":""')
    .replace(/"(time|creationTimestamp|lastTransitionTime)":"[^"]*"/g, '"$1":""');
}

test("APIServices are stored as if each had been created and updated by itself", async () => {
  const fixture = await ServerFixture.start();
  const { verbParts, upkeep } = fixture;
  const { objects } = apiServices(verbParts.registry, verbParts.loop);
  const born = objects.map((kept) => storedText(fixture, kept));
  const writer = new ServerWriter(verbParts);

  // Created one by one they are too few for the template path.
  for (const kept of objects) {
    await writer.remove(kept);
    await upkeep.settle();
  }

  expect(objects.length).toBeGreaterThan(20);
  expect(objects.map((kept) => storedText(fixture, kept))).toEqual(born);
});
