import { expect, test } from "vitest";
import { keyOf } from "../../objects/versions.ts";
import { ServerFixture } from "../fixture.ts";
import type { KeptObject } from "../required-objects.ts";
import { HouseWriter } from "../server-writer.ts";
import { apiServices } from "./api-services.ts";

/** What is stored, without what differs from one birth to the next. */
function storedText({ workshop }: ServerFixture, { resource, namespace, name }: KeptObject): string {
  const entry = workshop.store.view.get(keyOf(resource, namespace, name));
  return Buffer.from(entry?.value ?? [])
    .toString()
    .replace(/"uid":"[^"]*"/, '"uid":""')
    .replace(/"(time|creationTimestamp|lastTransitionTime)":"[^"]*"/g, '"$1":""');
}

test("registrations of served versions are stored as if each had been created and looked at by itself", async () => {
  const fixture = await ServerFixture.start();
  const { workshop, upkeep } = fixture;
  const { objects } = apiServices(workshop.registry, workshop.loop);
  const born = objects.map((kept) => storedText(fixture, kept));
  const writer = new HouseWriter(workshop);

  // One after the other they are too few to be written together.
  for (const kept of objects) {
    await writer.remove(kept);
    await upkeep.settle();
  }

  expect(objects.length).toBeGreaterThan(20);
  expect(objects.map((kept) => storedText(fixture, kept))).toEqual(born);
});
