import { expect, test } from "vitest";
import { keyOf } from "../objects/versions.ts";
import { apiServices } from "./bootstrap/api-services.ts";
import { requiredRoles } from "./bootstrap/default-roles.ts";
import { flowControl } from "./bootstrap/flow-control.ts";
import { ServerFixture } from "./fixture.ts";
import { completeManifest, correctionOf } from "./required-objects.ts";
import type { RequiredObject } from "./required-objects.ts";
import { ServerWriter } from "./server-writer.ts";

/** The stored text without uids and times. */
function storedText({ verbParts }: ServerFixture, { resource, namespace, name }: RequiredObject): string {
  const entry = verbParts.store.view.get(keyOf(resource, namespace, name));
  return Buffer.from(entry?.value ?? [])
    .toString()
    .replace(/"uid":"[^"]*"/, '"uid":""')
    .replace(/"(time|creationTimestamp|lastTransitionTime)":"[^"]*"/g, '"$1":""');
}

test("objects created together are stored as if a client had created them and then updated their status", async () => {
  const fixture = await ServerFixture.start();
  const { registry, loop, store } = fixture.verbParts;
  const sets = [
    apiServices(registry, loop),
    requiredRoles(registry),
    ...flowControl({ registry, loop, store }),
  ];
  const objects = sets.flatMap((set) => set.objects);
  const together = objects.map((required) => storedText(fixture, required));
  const writer = new ServerWriter(fixture.verbParts);

  for (const required of objects) {
    await writer.remove(required);
    await writer.create(required, completeManifest(required));
    const live = writer.find(required);
    const status = live === undefined ? undefined : correctionOf(required, live, "status");
    if (status !== undefined) await writer.update(required, status, "status");
  }

  expect(objects.length).toBeGreaterThan(180);
  expect(together).toEqual(objects.map((required) => storedText(fixture, required)));
});
