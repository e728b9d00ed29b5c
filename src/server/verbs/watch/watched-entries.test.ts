import { expect, test } from "vitest";
import type { Entry, WatchEvent } from "../../../store/store.ts";
import { eventsOfChanges } from "./watched-entries.ts";

function changes(): readonly WatchEvent[] {
  const key = "/registry/pods/a/a";
  const value = Buffer.from('{"kind":"Pod","metadata":{"name":"a"}}');
  const revisions = { createRevision: 2, modRevision: 2, version: 1, ordinal: 0 };
  const after: Entry = { key, value, ...revisions, expiresAt: undefined, slot: undefined };
  return [{ key, revision: 2, ordinal: 0, before: undefined, after }];
}

test("watches with the same filter share the events of a change, which is matched once", () => {
  let matches = 0;
  const matching = (): boolean => {
    matches += 1;
    return true;
  };
  const seen = changes();

  const first = eventsOfChanges(seen, matching);

  expect(first).toMatchObject([{ type: "ADDED" }]);
  expect(eventsOfChanges(seen, matching)).toBe(first);
  expect(matches).toBe(1);
  expect(eventsOfChanges(seen, () => false)).toEqual([]);
  expect(eventsOfChanges(seen, undefined)).not.toBe(first);
  expect(eventsOfChanges(seen, undefined)).toBe(eventsOfChanges(seen, undefined));
  expect(eventsOfChanges(changes(), matching)).not.toBe(first);
});
