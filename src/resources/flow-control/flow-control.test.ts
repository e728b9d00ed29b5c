import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { flowSchema } from "./flow-schema.ts";
import { priorityLevelConfiguration } from "./priority-level-configuration.ts";

describe("a FlowSchema", () => {
  const probe = new KindProbe(flowSchema);
  const level = { priorityLevelConfiguration: { name: "a" } };
  const subjects = [{ kind: "User", user: { name: "u" } }];
  const resources = { verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] };

  test("gets a precedence of 1000 by default", () => {
    expect(probe.created({ spec: level })).toMatchObject({ spec: { matchingPrecedence: 1000 } });
  });

  test.each([
    [{}, ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"]],
    [
      { ...level, matchingPrecedence: 1 },
      [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      ],
    ],
    [{ ...level, rules: [{ subjects, resourceRules: [resources] }] }, []],
    [
      { ...level, rules: [{}] },
      [
        "spec.rules[0].subjects: Required value: subjects must contain at least one value",
        "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
      ],
    ],
    [
      {
        ...level,
        rules: [{ subjects: [{ kind: "User", group: { name: "g" } }], resourceRules: [resources] }],
      },
      [
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      ],
    ],
    [
      { ...level, rules: [{ subjects, resourceRules: [{ ...resources, verbs: ["*", "get"] }] }] },
      [
        `spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
      ],
    ],
    [
      { ...level, rules: [{ subjects, nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/*/a"] }] }] },
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/*/a": wildcard can only do suffix matching',
      ],
    ],
  ])("has valid subjects and rules: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("has each condition type once, as its level has", () => {
    const twice = { conditions: [{ type: "A" }, { type: "A" }, { type: "" }] };
    const problems = [
      'status.conditions[1].type: Duplicate value: "A"',
      "status.conditions[2].type: Required value: must not be empty",
    ];

    expect(probe.statusProblems({ spec: level, status: twice })).toEqual(problems);
    expect(new KindProbe(priorityLevelConfiguration).statusProblems({ spec: {}, status: twice })).toEqual(
      problems,
    );
  });

  test("shows its level", () => {
    const status = { conditions: [{ type: "Dangling", status: "False" }] };

    expect(probe.cells({ spec: level, status })).toEqual(["it", "a", 1000, "<none>", "2m5s", "False"]);
    expect(probe.cells({ spec: level })[5]).toBe("?");
  });
});

describe("a PriorityLevelConfiguration", () => {
  const probe = new KindProbe(priorityLevelConfiguration);
  const limited = (limitResponse: object): object => ({ type: "Limited", limited: { limitResponse } });

  test("gets shares and queues by default", () => {
    expect(probe.created({ spec: limited({ type: "Queue", queuing: {} }) })).toMatchObject({
      spec: {
        limited: {
          nominalConcurrencyShares: 30,
          lendablePercent: 0,
          limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        },
      },
    });
  });

  test("keeps zero shares", () => {
    const spec = {
      type: "Limited",
      limited: { nominalConcurrencyShares: 0, limitResponse: { type: "Reject" } },
    };

    expect(probe.created({ spec })).toMatchObject({ spec: { limited: { nominalConcurrencyShares: 0 } } });
  });

  test.each([
    [limited({ type: "Reject" }), []],
    [
      { type: "Exempt" },
      [`spec.type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`],
    ],
    [{ type: "Limited" }, ["spec.limited: Required value: must not be empty when type is Limited"]],
    [
      limited({ type: "Queue" }),
      [
        "spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited",
      ],
    ],
    [
      limited({ type: "Queue", queuing: { queues: 2, handSize: 3 } }),
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 3: should not be greater than queues (2)",
      ],
    ],
    [
      limited({ type: "Queue", queuing: { queues: 1024, handSize: 9 } }),
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 9: required entropy bits of deckSize 1024 and handSize 9 should not be greater than 60",
      ],
    ],
  ])("is either limited or exempt: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("shows its queues", () => {
    expect(probe.cells({ spec: limited({ type: "Queue", queuing: {} }) })).toEqual([
      "it",
      "Limited",
      30,
      64,
      8,
      50,
      "2m5s",
    ]);
    expect(probe.cells({ spec: { type: "Exempt" } })).toEqual([
      "it",
      "Exempt",
      "<none>",
      "<none>",
      "<none>",
      "<none>",
      "2m5s",
    ]);
  });
});
