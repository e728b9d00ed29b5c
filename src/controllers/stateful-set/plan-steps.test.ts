import { describe, expect, test } from "vitest";
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from "../../api/generated/types/apps-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";
import { planSteps } from "./plan-steps.ts";
import { viewOf } from "./set-pods.ts";

const STAMP = "2026-01-01T00:00:00Z";
const NOW = Date.parse(STAMP) + 3_600_000;

/**
 * State of a pod: `r` ready, `s` ready just now, `n` not ready, `f` failed, `g` terminating, `-` missing; upper case for the updated
 * template.
 */
function podOf(ordinal: number, state: string): readonly Pod[] {
  if (state === "-") return [];
  const kind = state.toLowerCase();
  const name = `web-${String(ordinal)}`;
  const labels = { [REVISION_HASH]: state === kind ? "web-old" : "web-new" };
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: STAMP, labels };
  const status = kind === "n" ? ("False" as const) : ("True" as const);
  const lastTransitionTime = kind === "s" ? new Date(NOW).toISOString() : STAMP;
  const conditions = [{ type: "Ready", status, lastTransitionTime }];
  return [
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, ...(kind === "g" && { deletionTimestamp: STAMP }) },
      spec: { containers: [] },
      status: { phase: kind === "f" ? "Failed" : "Running", conditions },
    },
  ];
}

function revision(name: string): ControllerRevision {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: STAMP };
  return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision: 1 };
}

function setOf(spec: Partial<StatefulSetSpec>): StatefulSet {
  const metadata = { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: STAMP };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata,
    spec: {
      serviceName: "",
      selector: {},
      template: { metadata: {}, spec: { containers: [] } },
      updateStrategy: { type: "RollingUpdate" },
      ...spec,
    },
    status: { replicas: 0, availableReplicas: 0 },
  };
}

/** `+2:new` creates web-2 with the updated template, `-2` deletes it. */
function steps(spec: Partial<StatefulSetSpec>, states: string): string {
  const pods = states.split("").flatMap((state, ordinal) => podOf(ordinal, state));
  const revisions = { current: revision("web-old"), update: revision("web-new") };
  return planSteps(viewOf(setOf(spec), pods, { ...revisions, now: NOW }))
    .map((step) =>
      step.type === "create"
        ? `+${String(step.ordinal)}:${step.revision.metadata.name.slice(4)}`
        : `-${step.pod.metadata.name.slice(4)}`,
    )
    .join(" ");
}

const PARALLEL = { podManagementPolicy: "Parallel" } as const;
const rolling = (rollingUpdate: { partition?: number; maxUnavailable?: number | string }) =>
  ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } }) as const;

describe("a StatefulSet in order", () => {
  test.each<readonly [string, number, string, string]>([
    ["creates the first pod", 3, "", "+0:new"],
    ["creates the next pod once the previous one is ready", 3, "R", "+1:new"],
    ["waits for an unready pod", 3, "Rn", ""],
    ["fills a gap first", 3, "R-R", "+1:new"],
    ["waits for a terminating pod", 3, "RgR", ""],
    ["replaces an ended pod", 3, "RfR", "-1"],
    ["deletes the last surplus pod", 2, "RRRR", "-3"],
    ["waits until the last is gone", 2, "RRRg", ""],
    ["deletes no pod while another is unready", 2, "RnRR", ""],
    ["deletes the last pod although it is unready", 2, "RRRn", "-3"],
    ["updates from the last ordinal down", 3, "rrr", "-2"],
    ["updates the next pod once the previous one is ready", 3, "rrR", "-1"],
    ["waits for an unready updated pod", 3, "rrN", ""],
    ["takes no step if all is done", 3, "RRR", ""],
  ])("%s", (_, replicas, ...[states, expected]) => {
    expect(steps({ replicas }, states)).toBe(expected);
  });

  test("deletes the last surplus pod although it is within minReadySeconds", () => {
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRRS")).toBe("-3");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRSR")).toBe("-3");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRSS")).toBe("");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RSRR")).toBe("");
  });

  test("waits for an unready outdated pod too: only a manual deletion helps", () => {
    expect(steps({ replicas: 3 }, "rrn")).toBe("");
  });
});

describe("a parallel StatefulSet", () => {
  test.each<readonly [string, number, string, string]>([
    ["creates all pods at once", 3, "", "+0:new +1:new +2:new"],
    ["does not wait", 3, "n-f", "-2 +1:new"],
    ["deletes all surplus pods", 1, "RRnR", "-3 -2 -1"],
    ["updates one at a time", 3, "rrr", "-2"],
    ["updates the last pod although another is unready", 3, "nrr", "-2"],
    ["updates the last pod although it is unready", 3, "rrn", "-2"],
    ["waits for a terminating pod", 3, "rrg", ""],
    ["waits for an unready updated pod", 3, "rrN", ""],
  ])("%s", (_, replicas, ...[states, expected]) => {
    expect(steps({ replicas, ...PARALLEL }, states)).toBe(expected);
  });
});

describe("an update", () => {
  test.each<readonly [string, Partial<StatefulSetSpec>, string, string]>([
    ["leaves ordinals below the partition", rolling({ partition: 2 }), "rrrr", "-3"],
    ["is done at the partition", rolling({ partition: 2 }), "rrRR", ""],
    ["creates pods below the partition with the old template", rolling({ partition: 2 }), "-rRR", "+0:old"],
    ["creates pods above the partition with the new template", rolling({ partition: 2 }), "rr-R", "+2:new"],
    [
      "replaces pods within maxUnavailable",
      { ...rolling({ maxUnavailable: 2 }), ...PARALLEL },
      "rrrr",
      "-3 -2",
    ],
    ["replaces unready pods first", { ...rolling({ maxUnavailable: 1 }), ...PARALLEL }, "nrrr", "-0"],
    [
      "counts pods that are already unavailable",
      { ...rolling({ maxUnavailable: 2 }), ...PARALLEL },
      "rrrN",
      "-2",
    ],
    ["rounds a percentage down, but not to zero", rolling({ maxUnavailable: "10%" }), "rrrr", "-3"],
    ["takes no step with OnDelete", { updateStrategy: { type: "OnDelete" } }, "rrrr", ""],
    [
      "creates replacements with the new template",
      { updateStrategy: { type: "OnDelete" } },
      "r-rr",
      "+1:new",
    ],
  ])("%s", (_, spec, ...[states, expected]) => {
    expect(steps({ replicas: 4, ...spec }, states)).toBe(expected);
  });
});

describe("a huge StatefulSet", () => {
  const replicas = 2 ** 31 - 1;

  test("creates one batch per pass", () => {
    expect(steps({ replicas, ...PARALLEL }, "R").split(" ")).toHaveLength(500);
    expect(steps({ replicas }, "RR")).toBe("+2:new");
  });

  test("keeps pods far beyond the first missing one", () => {
    const pods = [podOf(0, "R"), podOf(1_000_000, "R")].flat();
    const revisions = { current: revision("web-old"), update: revision("web-new") };

    expect(viewOf(setOf({ replicas }), pods, { ...revisions, now: NOW }).condemned).toEqual([]);
    expect(viewOf(setOf({ replicas: 5 }), pods, { ...revisions, now: NOW }).condemned).toHaveLength(1);
  });
});
