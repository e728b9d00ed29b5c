import { expect, test } from "vitest";
import type { Change } from "../../api/causes/change.ts";
import { findFight } from "./find-fight.ts";

let revision = 0;

function write(user: string, before: number, after: number): Change {
  revision += 1;
  return {
    apiVersion: "causes.setpoint.dev/v1",
    kind: "Change",
    metadata: { name: `web.${String(revision)}` },
    revision: String(revision),
    operation: "Updated",
    object: { group: "apps", kind: "Deployment", resource: "deployments", namespace: "default", name: "web" },
    author: { user },
    fields: [{ path: "spec.replicas", before, after }],
  };
}

test("two writers that set a field back and forth are named", () => {
  const writes = [write("jo", 1, 2), write("ann", 2, 1), write("jo", 1, 2), write("ann", 2, 1)];

  expect(findFight(writes, "deployment/web")).toMatchObject([
    { blockedBy: "jo and ann set spec.replicas back and forth, 3 times" },
  ]);
});

test.each([
  [
    "one writer who changes its mind",
    [write("jo", 1, 2), write("jo", 2, 1), write("jo", 1, 2), write("jo", 2, 1)],
  ],
  [
    "two writers who go on from each other",
    [write("jo", 1, 2), write("ann", 2, 3), write("jo", 3, 4), write("ann", 4, 5)],
  ],
  ["a correction", [write("jo", 1, 2), write("ann", 2, 1)]],
])("%s is no fight", (_, writes) => {
  expect(findFight(writes, "deployment/web")).toEqual([]);
});
