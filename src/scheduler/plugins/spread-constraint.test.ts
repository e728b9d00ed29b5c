import { expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { podInfo, type PodInfo } from "../snapshot/pod-info.ts";
import { PodShapes } from "../snapshot/pod-shape.ts";
import { compileConstraints } from "./spread-constraint.ts";

const constraint = {
  maxSkew: 1,
  topologyKey: "zone",
  whenUnsatisfiable: "DoNotSchedule" as const,
  labelSelector: { matchLabels: { app: "web" } },
  matchLabelKeys: ["revision"],
};

function pod(labels: Readonly<Record<string, string>>, metadata: object = {}): PodInfo {
  const object = incomplete<Pod>({
    metadata: { name: "web", namespace: "default", uid: "1", labels, ...metadata },
    spec: { containers: [], topologySpreadConstraints: [constraint] },
    status: {},
  });
  return podInfo(object, new PodShapes());
}

const counts = (counter: PodInfo, other: PodInfo): boolean =>
  compileConstraints(counter, "DoNotSchedule")[0]?.matcher.matches(other) ?? false;

test("a constraint ignores terminating pods and those of other revisions or namespaces", () => {
  const web = pod({ app: "web", revision: "1" });

  expect(counts(web, pod({ app: "web", revision: "1" }))).toBe(true);
  expect(counts(web, pod({ app: "web", revision: "2" }))).toBe(false);
  expect(counts(web, pod({ app: "web", revision: "1" }, { namespace: "other" }))).toBe(false);
  expect(counts(web, pod({ app: "web", revision: "1" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }))).toBe(
    false,
  );
});

test("a matchLabelKeys entry without a label on the pod adds no requirement", () => {
  expect(counts(pod({ app: "web" }), pod({ app: "web", revision: "2" }))).toBe(true);
});
