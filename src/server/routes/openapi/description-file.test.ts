import { expect, test } from "vitest";
import { parseDescriptions } from "./description-file.ts";

const FILE = `# apps.v1 apps.v1beta1
Deployment keeps pods running.
  = meta.v1.Condition
  Replicas is the number of pods.

# apps.v1
Deployment keeps equal pods running.
  paused stops the rollout.
`;

test("packages of a section share its types, and a later section adds to them", () => {
  const types = parseDescriptions(FILE);

  expect([...types.keys()]).toEqual(["apps.v1.Deployment", "apps.v1beta1.Deployment"]);
  expect(types.get("apps.v1.Deployment")).toEqual({
    text: "Deployment keeps equal pods running.",
    base: "meta.v1.Condition",
    fields: new Map([
      ["replicas", "Replicas is the number of pods."],
      ["paused", "paused stops the rollout."],
    ]),
  });
  expect([...(types.get("apps.v1beta1.Deployment")?.fields.keys() ?? [])]).toEqual(["replicas"]);
});
