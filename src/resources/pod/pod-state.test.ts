import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isReady, isTerminal, podGraceSeconds } from "./pod-state.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const build = (spec: Manifest, status: Manifest = {}): Pod =>
  probe.read({ spec: { containers: [], ...spec }, status }) as Draft<Pod>;

describe("the grace period of a deletion", () => {
  test.each<[string, Pod, number | undefined, number]>([
    [
      "is the pod's period by default",
      build({ nodeName: "n", terminationGracePeriodSeconds: 7 }),
      undefined,
      7,
    ],
    ["is the requested period", build({ nodeName: "n" }), 3, 3],
    ["is 30 seconds without any period", build({ nodeName: "n" }), undefined, 30],
    ["is one second when negative", build({ nodeName: "n" }), -5, 1],
    ["is zero for an unbound pod", build({}), 30, 0],
    ["is zero for a terminal pod", build({ nodeName: "n" }, { phase: "Failed" }), 30, 0],
  ])("%s", (...[, object, asked, seconds]) => {
    expect(podGraceSeconds(object, asked)).toBe(seconds);
  });
});

test("a pod is ready when its Ready condition is true", () => {
  expect(isReady(build({}, { conditions: [{ type: "Ready", status: "True" }] }))).toBe(true);
  expect(isReady(build({}, { conditions: [{ type: "Ready", status: "False" }] }))).toBe(false);
});

test.each([
  ["Pending", false],
  ["Running", false],
  ["Succeeded", true],
  ["Failed", true],
])("a pod in phase %s is terminal: %s", (phase, expected) => {
  expect(isTerminal(build({}, { phase }))).toBe(expected);
});
