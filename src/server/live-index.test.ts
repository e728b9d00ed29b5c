import { expect, test } from "vitest";
import { openAccessWorld } from "./authz/fixture.ts";
import { LiveIndex } from "./live-index.ts";

const PREFIX = "/registry/pods/";

test("One that was asked keeps up with what changes, and has nothing left to do when it is asked next", async () => {
  const world = openAccessWorld();
  const calls: string[] = [];
  const index = new LiveIndex({
    prefix: PREFIX,
    add: ({ metadata }) => calls.push(`add ${metadata.name}`),
    remove: ({ metadata }) => calls.push(`remove ${metadata.name}`),
  });
  await world.put("pods/a/first", {});
  index.keepUp(world.store.view);
  expect(calls, "nobody has asked yet").toEqual([]);

  expect(index.catchUp(world.store.view)).toBe(true);
  expect(calls.splice(0)).toEqual(["add first"]);

  await world.put("pods/a/second", {});
  await world.remove("pods/a/first");
  index.keepUp(world.store.view);
  expect(calls.splice(0)).toEqual(["remove first", "add second"]);
  expect(index.catchUp(world.store.view)).toBe(false);
  expect(calls).toEqual([]);
});
