import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const main = { name: "main", image: "a" };

function problems(status: Manifest, spec: Manifest = {}, before: Manifest = {}): readonly string[] {
  const whole = { containers: [main], ...spec };
  return probe.statusProblems({ spec: whole, status }, { spec: whole, status: before });
}

describe("the status of a pod", () => {
  test.each<[string, Manifest, readonly string[]]>([
    [
      "a generation",
      { observedGeneration: -1 },
      ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"],
    ],
    [
      "a condition",
      { conditions: [{ type: "Ready", status: "True", observedGeneration: -1 }] },
      ["status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer"],
    ],
    [
      "the type of a condition",
      { conditions: [{ type: "-", status: "True" }] },
      [expect.stringMatching(/^status.conditions\[0\].Type: Invalid value: "-": /) as string],
    ],
    [
      "an address",
      { podIP: "x", podIPs: [{ ip: "x" }] },
      [expect.stringMatching(/^status.podIPs\[0\]: Invalid value: "x"/) as string],
    ],
  ])("with an invalid value of %s is refused", (_what, status, expected) => {
    expect(problems(status)).toEqual(expected);
  });

  test("has at most one address of each family", () => {
    const twice = [{ ip: "10.0.0.1" }, { ip: "10.0.0.1" }];

    expect(problems({ podIP: "10.0.0.1", podIPs: twice })).toEqual([
      expect.stringMatching(
        /^status.podIPs: Invalid value: .*: may specify no more than one IP for each IP family$/,
      ),
    ]);
  });

  test("may keep a stored invalid address", () => {
    const status = { podIP: "x", podIPs: [{ ip: "x" }], hostIP: "y", hostIPs: [{ ip: "y" }] };

    expect(problems(status, {}, status)).toEqual([]);
  });

  test("has a nominated node only while the pod is unbound", () => {
    const status = { nominatedNodeName: "n2" };

    expect(problems(status)).toEqual([]);
    expect(problems(status, { nodeName: "n1" }, status)).toEqual([]);
    expect(problems(status, { nodeName: "n1" })).toEqual([
      "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
    ]);
  });
});

describe("a terminated container", () => {
  const ended = (exitCode: number, name = "main"): Manifest => ({
    name,
    state: { terminated: { exitCode } },
  });
  const running = (name = "main"): Manifest => ({ name, state: { running: {} } });
  const rule = (values: readonly number[], action = "Restart"): Manifest => ({
    action,
    exitCodes: { operator: "In", values },
  });

  function isRefused(spec: Manifest, exitCode: number): boolean {
    const found = problems({ containerStatuses: [running()] }, spec, {
      containerStatuses: [ended(exitCode)],
    });
    return found.includes(
      "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
    );
  }

  test.each<[string, [Manifest, Manifest], readonly [boolean, boolean]]>([
    ["Always", [{}, {}], [false, false]],
    ["OnFailure", [{ restartPolicy: "OnFailure" }, {}], [true, false]],
    ["Never", [{ restartPolicy: "Never" }, {}], [true, true]],
    ["its own policy Never", [{}, { restartPolicy: "Never" }], [true, true]],
    ["its own policy OnFailure", [{ restartPolicy: "Never" }, { restartPolicy: "OnFailure" }], [true, false]],
    [
      "a rule for exit code 7",
      [{ restartPolicy: "Never" }, { restartPolicy: "Never", restartPolicyRules: [rule([7])] }],
      [true, false],
    ],
    [
      "a rule for exit code 8",
      [{ restartPolicy: "Never" }, { restartPolicy: "Never", restartPolicyRules: [rule([8])] }],
      [true, true],
    ],
    [
      "a rule that restarts all containers",
      [
        { restartPolicy: "Never" },
        { restartPolicy: "Never", restartPolicyRules: [rule([8], "RestartAllContainers")] },
      ],
      [false, false],
    ],
  ])("runs again according to %s", (_what, [spec, own], [isDoneForGood, isFailedForGood]) => {
    const containers = [{ ...main, ...own }];

    expect(isRefused({ ...spec, containers }, 0)).toBe(isDoneForGood);
    expect(isRefused({ ...spec, containers }, 7)).toBe(isFailedForGood);
  });

  test("does not run again when the spec lacks it", () => {
    expect(
      problems({ containerStatuses: [running("other")] }, {}, { containerStatuses: [ended(1, "other")] }),
    ).toEqual([
      "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
    ]);
  });
});

describe("the claim for extended resources", () => {
  const resources = { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } };
  const spec = { containers: [{ ...main, resources }] };
  const mapping = { containerName: "main", resourceName: "example.com/gpu", requestName: "r-0" };
  const status = { resourceClaimName: "claim", requestMappings: [mapping] };
  const path = "status.extendedResourceClaimStatus";

  test.each<[string, Manifest, readonly string[]]>([
    ["nothing", {}, []],
    [
      "no mapping",
      { requestMappings: [] },
      [`${path}.requestMappings: Required value: at least one request mapping is required`],
    ],
    ["no claim", { resourceClaimName: "" }, [`${path}.resourceClaimName: Required value`]],
    [
      "another container",
      { requestMappings: [{ ...mapping, containerName: "x" }] },
      [
        `${path}.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name`,
      ],
    ],
    [
      "another resource",
      { requestMappings: [{ ...mapping, resourceName: "x" }] },
      [
        `${path}.requestMappings[0].resourceName: Invalid value: "x": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests`,
      ],
    ],
    [
      "a duplicate mapping",
      { requestMappings: [mapping, mapping] },
      [
        `${path}.requestMappings[1].containerName: Duplicate value: "main"`,
        `${path}.requestMappings[1].resourceName: Duplicate value: "example.com/gpu"`,
        `${path}.requestMappings[1].requestName: Duplicate value: "r-0"`,
      ],
    ],
  ])("is refused with invalid %s", (_what, change, expected) => {
    expect(problems({ extendedResourceClaimStatus: { ...status, ...change } }, spec)).toEqual(expected);
  });
});

describe("the status of a container", () => {
  const resources = { requests: { cpu: "1" }, claims: [{ name: "c", request: "r" }] };
  const spec = {
    containers: [{ ...main, resources }],
    resourceClaims: [{ name: "c", resourceClaimName: "claim" }],
  };
  const health = (name: string, ...ids: readonly string[]): Manifest => ({
    name,
    resources: ids.map((resourceID) => ({ resourceID, health: "Healthy" })),
  });

  test.each<[string, Manifest, readonly string[]]>([
    ["its resources", { allocatedResourcesStatus: [health("cpu", "a", "b"), health("claim:c/r")] }, []],
    [
      "a resource that it does not request",
      { allocatedResourcesStatus: [health("memory")] },
      [
        `allocatedResourcesStatus[0].name: Invalid value: "memory": must match one of the container's resource requests`,
      ],
    ],
    [
      "a claim that it does not request",
      { allocatedResourcesStatus: [health("claim:c")] },
      [
        "allocatedResourcesStatus[0].name: Invalid value: \"claim:c\": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
      ],
    ],
    [
      "a duplicate device",
      { allocatedResourcesStatus: [health("cpu", "a", "a")] },
      ['allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "a"'],
    ],
    [
      "an unknown health",
      { allocatedResourcesStatus: [{ name: "cpu", resources: [{ resourceID: "a", health: "Fine" }] }] },
      [
        'allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"',
      ],
    ],
    [
      "an invalid user",
      { user: { linux: { uid: -1, gid: 1, supplementalGroups: [-2] } } },
      [
        "user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        "user.linux.supplementalGroups[0]: Invalid value: -2: must be between 0 and 2147483647, inclusive",
      ],
    ],
    [
      "an image without a name",
      { volumeMounts: [{ name: "v", mountPath: "/v", volumeStatus: { image: {} } }] },
      ["volumeMounts[0].volumeStatus.imageVolumeStatus.imageRef: Required value: imageRef must not be empty"],
    ],
  ])("with %s", (_what, told, expected) => {
    const status = { name: "main", state: { running: {} }, ...told };

    expect(problems({ containerStatuses: [status] }, spec)).toEqual(
      expected.map((problem) => `status.containerStatuses[0].${problem}`),
    );
  });

  test("has no resources for an ephemeral container", () => {
    const status = { name: "x", state: { running: {} }, allocatedResourcesStatus: [health("cpu")] };

    expect(problems({ ephemeralContainerStatuses: [status] }, spec)).toEqual([
      "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status",
    ]);
  });

  test("has no Linux user on Windows", () => {
    const status = { name: "main", state: { running: {} }, user: { linux: { uid: 1, gid: 1 } } };

    expect(problems({ containerStatuses: [status] }, { os: { name: "windows" } })).toEqual([
      "status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod",
    ]);
  });
});
