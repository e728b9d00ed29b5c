import { describe, expect, test } from "vitest";
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from "../../api/generated/types/apps-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";
import { planSteps } from "./plan-steps.ts";
import { viewOf } from "./set-pods.ts";

const STAMP = "2026-01-01T00:00:00Z";
const NOW = Date.parse(STAMP) + 3_600_000;

/** How a pod is: `r` ready, `s` ready since just now, `n` not ready, `f` failed, `g` going; an upper-case letter is one of the present template. `-`: none. */
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

/** `+2:new` makes web-2 of the present template, `-2` deletes it. */
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
    ["makes the first pod", 3, "", "+0:new"],
    ["makes the next when the one before is ready", 3, "R", "+1:new"],
    ["waits for one that is not ready", 3, "Rn", ""],
    ["fills a gap first", 3, "R-R", "+1:new"],
    ["waits for one that goes", 3, "RgR", ""],
    ["replaces one that has ended", 3, "RfR", "-1"],
    ["deletes the last that is too many", 2, "RRRR", "-3"],
    ["waits until the last is gone", 2, "RRRg", ""],
    ["deletes nothing while another ails", 2, "RnRR", ""],
    ["deletes the last although it ails itself", 2, "RRRn", "-3"],
    ["updates from the last on", 3, "rrr", "-2"],
    ["updates the next when the one before is ready", 3, "rrR", "-1"],
    ["waits for an updated one that is not ready", 3, "rrN", ""],
    ["has nothing to do", 3, "RRR", ""],
  ])("%s", (_, replicas, ...[states, expected]) => {
    expect(steps({ replicas }, states)).toBe(expected);
  });

  test("does not wait until the last, which is to go anyway, has been ready for long enough", () => {
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRRS")).toBe("-3");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRSR")).toBe("-3");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RRSS")).toBe("");
    expect(steps({ replicas: 2, minReadySeconds: 60 }, "RSRR")).toBe("");
  });

  test("waits for an old pod that is not ready, too: only somebody's hand can help", () => {
    expect(steps({ replicas: 3 }, "rrn")).toBe("");
  });
});

describe("a parallel StatefulSet", () => {
  test.each<readonly [string, number, string, string]>([
    ["makes all pods at once", 3, "", "+0:new +1:new +2:new"],
    ["does not wait", 3, "n-f", "-2 +1:new"],
    ["deletes all that are too many", 1, "RRnR", "-3 -2 -1"],
    ["updates one at a time", 3, "rrr", "-2"],
    ["updates the last although another ails", 3, "nrr", "-2"],
    ["updates the last although it ails itself", 3, "rrn", "-2"],
    ["waits for one that goes", 3, "rrg", ""],
    ["waits for an updated one that is not ready", 3, "rrN", ""],
  ])("%s", (_, replicas, ...[states, expected]) => {
    expect(steps({ replicas, ...PARALLEL }, states)).toBe(expected);
  });
});

describe("an update", () => {
  test.each<readonly [string, Partial<StatefulSetSpec>, string, string]>([
    ["leaves ordinals below the partition", rolling({ partition: 2 }), "rrrr", "-3"],
    ["is done at the partition", rolling({ partition: 2 }), "rrRR", ""],
    ["makes pods below the partition of the old template", rolling({ partition: 2 }), "-rRR", "+0:old"],
    ["makes pods above it of the new one", rolling({ partition: 2 }), "rr-R", "+2:new"],
    [
      "replaces as many as may be missing",
      { ...rolling({ maxUnavailable: 2 }), ...PARALLEL },
      "rrrr",
      "-3 -2",
    ],
    ["replaces what ails first", { ...rolling({ maxUnavailable: 1 }), ...PARALLEL }, "nrrr", "-0"],
    ["counts those missing already", { ...rolling({ maxUnavailable: 2 }), ...PARALLEL }, "rrrN", "-2"],
    ["rounds a part of all down, but not to none", rolling({ maxUnavailable: "10%" }), "rrrr", "-3"],
    ["leaves everything as it is", { updateStrategy: { type: "OnDelete" } }, "rrrr", ""],
    ["makes anew of the new template", { updateStrategy: { type: "OnDelete" } }, "r-rr", "+1:new"],
  ])("%s", (_, spec, ...[states, expected]) => {
    expect(steps({ replicas: 4, ...spec }, states)).toBe(expected);
  });
});

describe("a StatefulSet of more pods than there can be", () => {
  const replicas = 2 ** 31 - 1;

  test("makes some of them at a time", () => {
    expect(steps({ replicas, ...PARALLEL }, "R").split(" ")).toHaveLength(500);
    expect(steps({ replicas }, "RR")).toBe("+2:new");
  });

  test("keeps those that lie far beyond the first that is missing", () => {
    const pods = [podOf(0, "R"), podOf(1_000_000, "R")].flat();
    const revisions = { current: revision("web-old"), update: revision("web-new") };

    expect(viewOf(setOf({ replicas }), pods, { ...revisions, now: NOW }).condemned).toEqual([]);
    expect(viewOf(setOf({ replicas: 5 }), pods, { ...revisions, now: NOW }).condemned).toHaveLength(1);
  });
});
