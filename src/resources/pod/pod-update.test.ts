import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);

const withSpec = (more: Manifest = {}): Manifest => ({
  spec: { containers: [{ name: "main", image: "nginx:1" }], ...more },
});
const updates = (next: Manifest, previous: Manifest = {}): readonly string[] =>
  probe.updateProblems(withSpec(next), withSpec(previous));

const REFUSED =
  "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

describe("an update of a pod", () => {
  const toleration = { key: "a", operator: "Exists", effect: "NoExecute" };

  test.each<[string, Manifest, Manifest]>([
    ["nothing", {}, {}],
    ["an image", { containers: [{ name: "main", image: "nginx:2", imagePullPolicy: "IfNotPresent" }] }, {}],
    ["a new deadline", { activeDeadlineSeconds: 5 }, {}],
    ["an earlier deadline", { activeDeadlineSeconds: 5 }, { activeDeadlineSeconds: 6 }],
    ["an added toleration", { tolerations: [toleration] }, {}],
    [
      "the time of a toleration",
      { tolerations: [{ ...toleration, tolerationSeconds: 5 }] },
      { tolerations: [toleration] },
    ],
    [
      "a negative grace period to 1",
      { terminationGracePeriodSeconds: 1 },
      { terminationGracePeriodSeconds: -1 },
    ],
    ["the removal of a gate", {}, { schedulingGates: [{ name: "a" }] }],
    ["the node selector of a gated pod", { nodeSelector: { a: "b" } }, { schedulingGates: [{ name: "a" }] }],
    [
      "the node affinity of a gated pod",
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }],
            },
          },
        },
      },
      { schedulingGates: [{ name: "a" }] },
    ],
  ])("may change %s", (_what, next, previous) => {
    expect(updates(next, previous)).toEqual([]);
  });

  test.each<[string, Manifest, Manifest, string]>([
    [
      "add containers",
      {
        containers: [
          { name: "main", image: "a" },
          { name: "b", image: "b" },
        ],
      },
      {},
      "spec.containers: Forbidden: pod updates may not add or remove containers",
    ],
    [
      "extend a deadline",
      { activeDeadlineSeconds: 7 },
      { activeDeadlineSeconds: 6 },
      "spec.activeDeadlineSeconds: Invalid value: 7: must be less than or equal to previous value",
    ],
    [
      "remove a deadline",
      {},
      { activeDeadlineSeconds: 6 },
      "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
    ],
    [
      "remove a toleration",
      {},
      { tolerations: [toleration] },
      "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
    ],
    [
      "add a gate",
      { schedulingGates: [{ name: "b" }] },
      {},
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
    ],
    [
      "widen the node selector of a gated pod",
      {},
      { nodeSelector: { a: "b" }, schedulingGates: [{ name: "a" }] },
      "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)",
    ],
  ])("may not %s", (...[, next, previous, problem]) => {
    expect(updates(next, previous)).toContain(problem);
  });

  test("of thousands of reordered tolerations is fast", () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({ ...toleration, key: `k${String(n)}` }));

    expect(updates({ tolerations: many.toReversed() }, { tolerations: many })).toEqual([]);
  });

  test("may change no other field, and the error shows the difference", () => {
    const [problem = ""] = updates({ nodeSelector: { a: "b" }, restartPolicy: "Never" });

    expect(problem.startsWith(REFUSED)).toBe(true);
    expect(problem.slice(REFUSED.length).split("\n")).toEqual([
      "  core.PodSpec{",
      '- \tRestartPolicy: "Always",',
      '+ \tRestartPolicy: "Never",',
      '+ \tNodeSelector: {"a":"b"},',
      "  \t... // 6 identical fields",
      "  }",
      "",
    ]);
  });
});

const RESTARTING_ALL = {
  restartPolicy: "Never",
  containers: [
    { name: "main", image: "a" },
    {
      name: "watcher",
      image: "a",
      restartPolicy: "Never",
      restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } }],
    },
  ],
};

describe("an update of a pod's status", () => {
  const status = (more: Manifest, spec: Manifest = {}): Manifest => ({
    ...withSpec(spec),
    status: { qosClass: "BestEffort", ...more },
  });
  const ended = { name: "main", state: { terminated: { exitCode: 0 } } };
  const running = { name: "main", state: { running: {} } };

  test.each<[string, Manifest, Manifest, readonly string[]]>([
    [
      "keeps the QoS class",
      status({ qosClass: "Guaranteed" }),
      status({}),
      ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ],
    [
      "does not restart a container that must not restart",
      status({ containerStatuses: [running] }, { restartPolicy: "Never" }),
      status({ containerStatuses: [ended] }, { restartPolicy: "Never" }),
      ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ],
    [
      "restarts any container when a rule restarts all",
      status({ containerStatuses: [running] }, RESTARTING_ALL),
      status({ containerStatuses: [ended] }, RESTARTING_ALL),
      [],
    ],
    [
      "restarts a container that may restart",
      status({ containerStatuses: [running] }),
      status({ containerStatuses: [ended] }),
      [],
    ],
    [
      "has one address of each family",
      status({ podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] }),
      status({}),
      [
        'status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      "has equal values in hostIP and hostIPs",
      status({ hostIPs: [{ ip: "10.0.0.1" }] }),
      status({}),
      ['status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`'],
    ],
  ])("%s", (...[, next, previous, problems]) => {
    expect(probe.statusProblems(next, previous)).toEqual(problems);
  });

  test("keeps owners and completes paired fields", () => {
    const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "1" };
    const next = { metadata: { ownerReferences: [owner] }, ...withSpec(), status: { podIP: "10.0.0.1" } };

    const updated = probe.statusUpdated(next, status({}));

    expect(updated).toMatchObject({ status: { qosClass: "BestEffort", podIPs: [{ ip: "10.0.0.1" }] } });
    expect(updated.metadata).not.toHaveProperty("ownerReferences");
  });

  test("keeps observed generations that a client omits", () => {
    const condition = (type: string, more: Manifest = {}): Manifest => ({ type, status: "True", ...more });
    const seen = {
      observedGeneration: 3,
      conditions: [
        condition("Ready", { observedGeneration: 2 }),
        condition("Own", { observedGeneration: 3 }),
        condition("Own"),
      ],
    };

    const next = { conditions: ["Own", "Own", "New", "Ready"].map((type) => condition(type)) };
    const { status: updated } = probe.statusUpdated(
      { ...withSpec(), status: next },
      { ...withSpec(), status: seen },
    );

    expect(updated).toMatchObject({ observedGeneration: 3 });
    const { conditions } = updated as { conditions: readonly Manifest[] };
    expect(conditions.map((each) => each["observedGeneration"])).toEqual([3, undefined, undefined, 2]);
  });
});
