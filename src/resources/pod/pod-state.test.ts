import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { isReady, isTerminal, podGraceSeconds } from "./pod-state.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const build = (spec: Manifest, status: Manifest = {}): Pod =>
  probe.read({ spec: { containers: [], ...spec }, status }) as unknown as Pod;

describe("the grace period of a deletion", () => {
  test.each<[string, Pod, number | undefined, number]>([
    ["is the pod's own", build({ nodeName: "n", terminationGracePeriodSeconds: 7 }), undefined, 7],
    ["is what was asked for", build({ nodeName: "n" }), 3, 3],
    ["is 30 unless said", build({ nodeName: "n" }), undefined, 30],
    ["is one second when negative", build({ nodeName: "n" }), -5, 1],
    ["is none for a pod that is nowhere", build({}), 30, 0],
    ["is none for a pod that has ended", build({ nodeName: "n" }, { phase: "Failed" }), 30, 0],
  ])("%s", (...[, object, asked, seconds]) => {
    expect(podGraceSeconds(object, asked)).toBe(seconds);
  });
});

test("a pod is ready when its condition says so", () => {
  expect(isReady(build({}, { conditions: [{ type: "Ready", status: "True" }] }))).toBe(true);
  expect(isReady(build({}, { conditions: [{ type: "Ready", status: "False" }] }))).toBe(false);
});

test.each([
  ["Pending", false],
  ["Running", false],
  ["Succeeded", true],
  ["Failed", true],
])("a pod in phase %s has ended: %s", (phase, expected) => {
  expect(isTerminal(build({}, { phase }))).toBe(expected);
});
