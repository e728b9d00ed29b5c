import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { job } from "./job.ts";

const probe = new KindProbe(job);

const template = (more: Manifest = {}): Manifest => ({
  spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never", ...more },
});
const withSpec = (more: Manifest = {}): Manifest => ({
  metadata: { uid: "u1" },
  spec: { template: template(), ...more },
});
const INDEXED = { completionMode: "Indexed", completions: 3, parallelism: 3 };

describe("warnings about a Job", () => {
  const many = { completionMode: "Indexed", completions: 100_001, parallelism: 10_001 };

  test("mention that many indexes may be too many, when it is made and when that changes", () => {
    const warning =
      "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

    expect(probe.warnings(withSpec(many))).toEqual([warning]);
    expect(probe.warnings(withSpec({ ...many, parallelism: 10_000 }))).toEqual([]);
    expect(probe.updateWarnings(withSpec(many), withSpec())).toEqual([warning]);
    expect(probe.updateWarnings(withSpec(many), withSpec(many))).toEqual([]);
  });
});

describe("the defaults of a Job", () => {
  test("are one pod that succeeds", () => {
    expect(probe.created(withSpec())).toMatchObject({
      spec: {
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        completionMode: "NonIndexed",
        suspend: false,
        manualSelector: false,
        podReplacementPolicy: "TerminatingOrFailed",
      },
    });
  });

  test("leave the number of completions open when only a parallelism is given", () => {
    expect(probe.created(withSpec({ parallelism: 2 }))).not.toHaveProperty("spec.completions");
  });

  test.each<[Manifest, Manifest]>([
    [{ ...INDEXED, backoffLimitPerIndex: 1 }, { backoffLimit: 2147483647 }],
    [{ podFailurePolicy: { rules: [] } }, { podReplacementPolicy: "Failed" }],
    [
      {
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
      },
      { podFailurePolicy: { rules: [{ onPodConditions: [{ status: "True" }] }] } },
    ],
  ])("of %o", (spec, expected) => {
    expect(probe.created(withSpec(spec))).toMatchObject({ spec: expected });
  });
});

describe("the selector of a Job", () => {
  const labels = {
    "batch.kubernetes.io/controller-uid": "u1",
    "batch.kubernetes.io/job-name": "it",
    "controller-uid": "u1",
    "job-name": "it",
  };

  test("is made by the server, with the labels it selects", () => {
    expect(probe.created(withSpec())).toMatchObject({
      metadata: { labels },
      spec: {
        selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } },
        template: { metadata: { labels } },
      },
    });
  });

  test("leaves labels that a job has of its own", () => {
    const created = probe.created({ ...withSpec(), metadata: { uid: "u1", labels: { mine: "x" } } });

    expect(created.metadata.labels).toEqual({ mine: "x" });
  });

  test("is the user's when the user says so", () => {
    const spec = {
      manualSelector: true,
      selector: { matchLabels: { a: "b" } },
      template: { ...template(), metadata: { labels: { a: "b" } } },
    };

    expect(probe.problems(withSpec(spec))).toEqual([]);
  });

  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [
      { template: { ...template(), metadata: { labels: { "job-name": "x" } } } },
      [
        'spec.template.metadata.labels[job-name]: Invalid value: {"job-name":"x","batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"it","controller-uid":"u1"}: must be \'it\'',
      ],
    ],
    [
      { selector: { matchLabels: { a: "b" } } },
      [
        'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"u1","a":"b"}}: `selector` not auto-generated',
      ],
    ],
    [{ manualSelector: true }, ["spec.selector: Required value"]],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec)).map(sortedValue)).toEqual(
      expect.arrayContaining(problems.map(sortedValue)),
    );
  });
});

/** The order of keys in a shown value does not matter here. */
function sortedValue(text: string): string {
  return text.replace(/\{.*\}/, (value) =>
    JSON.stringify(
      Object.entries(JSON.parse(value) as object)
        .map(String)
        .toSorted(),
    ),
  );
}

describe("the spec of a Job", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ parallelism: -1 }, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]],
    [
      { template: template({ restartPolicy: undefined }) },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      { completionMode: "Indexed", parallelism: 1 },
      ["spec.completions: Required value: when completion mode is Indexed"],
    ],
    [
      { backoffLimitPerIndex: 1 },
      ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
    ],
    [
      { ...INDEXED, maxFailedIndexes: 1 },
      ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
    ],
    [
      { podFailurePolicy: { rules: [{ action: "Count" }] } },
      [
        "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
      ],
    ],
    [
      { podFailurePolicy: { rules: [{ onExitCodes: { operator: "In", values: [0] } }] } },
      [
        'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
        "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
      ],
    ],
    [
      {
        podFailurePolicy: {
          rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [2, 1], containerName: "x" } }],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template',
        "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered",
      ],
    ],
    [
      { podFailurePolicy: { rules: [] }, template: template({ restartPolicy: "OnFailure" }) },
      [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [{ ...INDEXED, successPolicy: { rules: [{ succeededIndexes: "0-1" }] } }, []],
    [
      { ...INDEXED, successPolicy: { rules: [{ succeededIndexes: "5" }] } },
      [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "5": error parsing succeededIndexes: too large index: "5"',
      ],
    ],
    [
      { ...INDEXED, successPolicy: { rules: [{ succeededCount: 4 }] } },
      [
        "spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)",
      ],
    ],
    [
      { managedBy: "nobody" },
      ['spec.managedBy: Invalid value: "nobody": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [{ managedBy: "acme.io/foo" }, []],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("makes host names that fit", () => {
    const name = "x".repeat(62);
    const metadata = { uid: "u1", name };

    expect(probe.problems({ metadata, spec: { ...INDEXED, template: template() } })).toContain(
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-2`,
    );
  });
});

describe("an update of a Job", () => {
  const stored = (spec: Manifest): Manifest => probe.created(withSpec(spec));
  const changes = (next: Manifest, previous: Manifest = {}): readonly string[] =>
    probe.updateProblems(stored(next), withSpec(previous));

  test.each<[Manifest, Manifest, readonly string[]]>([
    [{ parallelism: 2, completions: 1, suspend: true }, {}, []],
    [{ completions: 2, parallelism: 1 }, {}, ["spec.completions: Invalid value: 2: field is immutable"]],
    [{ ...INDEXED, completions: 4, parallelism: 4 }, INDEXED, []],
    [
      { ...INDEXED, completions: 4 },
      INDEXED,
      ["spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"],
    ],
    [{ managedBy: "a.io/b" }, {}, ['spec.managedBy: Invalid value: "a.io/b": field is immutable']],
    [{ suspend: true, template: template({ nodeSelector: { a: "b" } }) }, { suspend: true }, []],
  ])("to %o", (next, previous, problems) => {
    expect(changes(next, previous)).toEqual(problems);
  });

  test("keeps the template of a running job", () => {
    const [problem] = changes({ template: template({ nodeSelector: { a: "b" } }) });

    expect(problem).toMatch(/^spec\.template: Invalid value: .*: field is immutable$/);
  });

  const startTime = "2026-01-02T03:00:00Z";
  const suspended = { type: "Suspended", status: "True" };
  const larger = template({
    containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "2" } } }],
  });
  const elsewhere = template({ nodeSelector: { a: "b" } });

  /** What an update says of a suspended job that has this status. */
  const suspendedChanges = (next: Manifest, status: Manifest): readonly string[] =>
    probe.updateProblems(stored({ template: next }), { ...withSpec({ suspend: true }), status });

  test.each<[string, Manifest, Manifest]>([
    ["what a job gets that is yet to start", larger, {}],
    ["what a job gets that was stopped", larger, { startTime, conditions: [suspended] }],
    ["where a job runs that was stopped", elsewhere, { startTime, conditions: [suspended] }],
  ])("may say anew %s", (_, next, status) => {
    expect(suspendedChanges(next, status)).toEqual([]);
  });

  const other = template({ containers: [{ name: "main", image: "other" }] });
  const renamed = template({ containers: [{ name: "other", image: "busybox" }] });

  test.each<[string, Manifest, Manifest]>([
    ["what a job gets that is being stopped", larger, { startTime }],
    ["what a job gets that has pods left", larger, { active: 1, conditions: [suspended] }],
    ["what a job runs that was stopped", other, { conditions: [suspended] }],
    ["what its containers are called", renamed, {}],
  ])("may not say anew %s", (_, next, status) => {
    expect(suspendedChanges(next, status)).toEqual([
      expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/),
    ]);
  });
});

describe("the status of a Job", () => {
  const condition = (type: string): Manifest => ({ type, status: "True" });
  const TIMES = { startTime: "2026-01-02T03:00:00Z", completionTime: "2026-01-02T03:02:05Z" };
  const complete = { ...TIMES, conditions: [condition("SuccessCriteriaMet"), condition("Complete")] };
  const problems = (status: Manifest, previous: Manifest = {}): readonly string[] =>
    probe.statusProblems({ ...withSpec(), status }, { ...withSpec(), status: previous });

  test.each<[Manifest, Manifest, readonly string[]]>([
    [complete, {}, []],
    [{ active: 1, ready: 2 }, {}, ["status.ready: Invalid value: 2: cannot set more ready pods than active"]],
    [
      { ...TIMES, conditions: [condition("Complete")] },
      {},
      [
        "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
      ],
    ],
    [
      { ...complete, active: 1 },
      {},
      ["status.active: Invalid value: 1: active>0 is invalid for finished job"],
    ],
    [{ failed: 1 }, { failed: 2 }, ["status.failed: Invalid value: 1: cannot decrease the failed counter"]],
    [
      { completedIndexes: "0" },
      {},
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      ],
    ],
    [
      {},
      { startTime: "2026-01-02T03:00:00Z" },
      ["status.startTime: Invalid value: null: field is immutable for unsuspended job once set"],
    ],
    [
      { startTime: "2026-01-02T03:02:05Z" },
      { startTime: "2026-01-02T03:00:00Z" },
      [
        'status.startTime: Invalid value: "2026-01-02T03:02:05Z": field is immutable for unsuspended job once set',
      ],
    ],
    [
      { startTime: "2026-01-02T03:02:05Z", conditions: [{ type: "Suspended", status: "False" }] },
      { startTime: "2026-01-02T03:00:00Z", conditions: [condition("Suspended")] },
      [],
    ],
    [
      { conditions: [condition("Failed")], ...TIMES },
      {},
      [
        "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
        'status.completionTime: Invalid value: "2026-01-02T03:02:05Z": cannot set completionTime when there is no Complete=True condition',
      ],
    ],
    [
      { conditions: [condition("SuccessCriteriaMet"), condition("FailureTarget")] },
      {},
      [
        "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
      ],
    ],
    [
      { conditions: [condition("FailureTarget"), condition("Failed")] },
      {},
      ["status.startTime: Required value: startTime is required for finished job"],
    ],
    [
      { ...complete, completionTime: "2026-01-02T02:00:00Z" },
      {},
      [
        'status.completionTime: Invalid value: "2026-01-02T02:00:00Z": completionTime cannot be set before startTime',
      ],
    ],
    [
      { ...complete, completionTime: "2026-01-02T03:02:06Z" },
      complete,
      ['status.completionTime: Invalid value: "2026-01-02T03:02:06Z": completionTime cannot be mutated'],
    ],
    [
      { ...complete, uncountedTerminatedPods: { succeeded: ["a"], failed: ["a"] } },
      {},
      [
        'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        'status.uncountedTerminatedPods: Invalid value: {"failed":["a"],"succeeded":["a"]}: uncountedTerminatedPods needs to be empty for finished job',
      ],
    ],
    [
      { ...TIMES, conditions: [condition("SuccessCriteriaMet")] },
      complete,
      [
        'status.completionTime: Invalid value: "2026-01-02T03:02:05Z": cannot set completionTime when there is no Complete=True condition',
        "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
      ],
    ],
    [
      { failedIndexes: "0" },
      {},
      [
        'status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      ],
    ],
  ])("may be %o after %o", (next, previous, expected) => {
    expect(problems(next, previous)).toEqual(expected);
  });

  test("that contradicts itself does not keep other fields from being written", () => {
    const broken = { ready: 2, active: 1, completedIndexes: "0" };

    expect(problems({ ...broken, failed: 1 }, broken)).toEqual([]);
    expect(problems({ ...broken, ready: 3 }, broken)).toEqual([
      "status.ready: Invalid value: 3: cannot set more ready pods than active",
    ]);
  });

  test.each<[Manifest, { readonly to: Manifest; readonly from?: Manifest }, readonly string[]]>([
    [{ completions: 3, parallelism: 3 }, { to: { succeeded: 3 }, from: { succeeded: 5 } }, []],
    [
      { completions: 3, parallelism: 2 },
      { to: { succeeded: 3 }, from: { succeeded: 5 } },
      ["status.succeeded: Invalid value: 3: cannot decrease the succeeded counter"],
    ],
    [
      { completions: 3, backoffLimitPerIndex: 1 },
      { to: { completedIndexes: "0-1", failedIndexes: "1" } },
      ['status.failedIndexes: Invalid value: "1": failedIndexes and completedIndexes overlap at index: 1'],
    ],
    [
      { completions: 3 },
      { to: { completedIndexes: "3" } },
      ['status.completedIndexes: Invalid value: "3": error parsing completedIndexes: too large index: "3"'],
    ],
    [{ completions: 0, suspend: true }, { to: { ...complete, startTime: undefined } }, []],
  ])("of an indexed job with %o may change: %o", (spec, { to, from = {} }, expected) => {
    const indexed = withSpec({ completionMode: "Indexed", ...spec });

    expect(probe.statusProblems({ ...indexed, status: to }, { ...indexed, status: from })).toEqual(expected);
  });

  test.each<[Manifest, readonly unknown[]]>([
    [{}, ["it", "Running", "0/1", "", "2m5s"]],
    [{ ...complete, succeeded: 1 }, ["it", "Complete", "1/1", "2m5s", "2m5s"]],
    [{ conditions: [condition("Suspended")] }, ["it", "Suspended", "0/1", "", "2m5s"]],
  ])("is shown: %o", (status, cells) => {
    expect(probe.cells({ ...withSpec(), status }).slice(0, 5)).toEqual(cells);
  });

  test("can be selected by", () => {
    expect(probe.fields({ ...withSpec(), status: { succeeded: 2 } })).toEqual({ "status.successful": "2" });
  });
});
