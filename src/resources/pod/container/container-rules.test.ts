import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../../rules/kind-probe.ts";
import { pod } from "../pod.ts";

const probe = new KindProbe(pod);

const container = (more: Manifest = {}): Manifest => ({ name: "main", image: "nginx:1.27", ...more });
const AT = "spec.containers[0]";

/** Errors of a pod with this container and a volume `data`. */
const problems = (more: Manifest): readonly string[] =>
  probe.problems({
    spec: {
      containers: [container(more)],
      volumes: [{ name: "data" }, { name: "disk", persistentVolumeClaim: { claimName: "c" } }],
    },
  });

describe("validation of a container", () => {
  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [{ image: "" }, [`${AT}.image: Required value`]],
    [
      { image: " nginx" },
      [`${AT}.image: Invalid value: " nginx": must not have leading or trailing whitespace`],
    ],
    [{ name: "" }, [`${AT}.name: Required value`]],
    [
      { imagePullPolicy: "Often" },
      [
        `${AT}.imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"`,
      ],
    ],
    [
      { terminationMessagePolicy: "Shout" },
      [
        `${AT}.terminationMessagePolicy: Unsupported value: "Shout": supported values: "File", "FallbackToLogsOnError"`,
      ],
    ],
    [
      { restartPolicy: "Often" },
      [`${AT}.restartPolicy: Unsupported value: "Often": supported values: "Always", "Never", "OnFailure"`],
    ],
    [
      { resizePolicy: [{ resourceName: "disk", restartPolicy: "NotRequired" }] },
      [`${AT}.resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`],
    ],
  ])("%o", (more, expected) => {
    expect(problems(more)).toEqual(expected);
  });

  test("has a name that no other container has", () => {
    const spec = { containers: [container(), container()], initContainers: [container()] };

    expect(probe.problems({ spec })).toEqual([
      'spec.containers[1].name: Duplicate value: "main"',
      'spec.initContainers[0].name: Duplicate value: "main"',
    ]);
  });
});

describe("restart rules", () => {
  test("need a restart policy and an operator", () => {
    const restartPolicyRules = [{ action: "Restart", exitCodes: { values: [1] } }];

    expect(problems({ restartPolicyRules })).toEqual([
      `${AT}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
      `${AT}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"`,
    ]);
  });

  test("have the action Restart or RestartAllContainers", () => {
    const restartPolicyRules = [{ action: "Wait", exitCodes: { operator: "In", values: [1] } }];

    expect(problems({ restartPolicy: "Never", restartPolicyRules })).toEqual([
      `${AT}.restartPolicyRules[0].action: Unsupported value: "Wait": supported values: "Restart", "RestartAllContainers"`,
    ]);
  });

  test("are valid with a restart policy and an operator", () => {
    const restartPolicyRules = [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }];

    expect(problems({ restartPolicy: "Never", restartPolicyRules })).toEqual([]);
  });
});

describe("validation of ports", () => {
  test.each<[readonly Manifest[], readonly string[]]>([
    [[{ name: "http", containerPort: 80 }], []],
    [[{ containerPort: 0 }], [`${AT}.ports[0].containerPort: Required value`]],
    [
      [{ containerPort: 65536 }],
      [`${AT}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`],
    ],
    [
      [
        { name: "a", containerPort: 1 },
        { name: "a", containerPort: 2 },
      ],
      [`${AT}.ports[1].name: Duplicate value: "a"`],
    ],
    [
      [{ containerPort: 1, protocol: "ICMP" }],
      [`${AT}.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`],
    ],
    [
      [
        { containerPort: 1, hostPort: 9 },
        { containerPort: 2, hostPort: 9 },
      ],
      [`${AT}.ports[1].hostPort: Duplicate value: "TCP//9"`],
    ],
  ])("%o", (ports, expected) => {
    expect(problems({ ports })).toEqual(expected);
  });
});

describe("validation of environment variables", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ name: "A", value: "b" }, []],
    [{ name: "" }, [`${AT}.env[0].name: Required value`]],
    [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }, []],
    [
      { name: "A", value: "b", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
      [`${AT}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
    ],
    [
      { name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nothing" } } },
      [
        `${AT}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nothing": error converting fieldPath: field label not supported: spec.nothing`,
      ],
    ],
    [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }, []],
    [
      { name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } },
      [
        `${AT}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      ],
    ],
    [
      { name: "A", valueFrom: { configMapKeyRef: { name: "c" } } },
      [`${AT}.env[0].valueFrom.configMapKeyRef.key: Required value`],
    ],
  ])("%o", (variable, expected) => {
    expect(problems({ env: [variable] })).toEqual(expected);
  });

  test.each<[Manifest, readonly string[]]>([
    [{ configMapRef: { name: "c" } }, []],
    [{}, [`${AT}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``]],
    [{ secretRef: {} }, [`${AT}.envFrom[0].secretRef.name: Required value`]],
  ])("from %o", (source, expected) => {
    expect(problems({ envFrom: [source] })).toEqual(expected);
  });
});

describe("validation of mounts and devices", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ volumeMounts: [{ name: "data", mountPath: "/a" }] }, []],
    [
      { volumeMounts: [{ name: "nope", mountPath: "/a" }] },
      [`${AT}.volumeMounts[0].name: Not found: "nope"`],
    ],
    [{ volumeMounts: [{ name: "data" }] }, [`${AT}.volumeMounts[0].mountPath: Required value`]],
    [
      {
        volumeMounts: [
          { name: "data", mountPath: "/a" },
          { name: "data", mountPath: "/a" },
        ],
      },
      [`${AT}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`],
    ],
    [
      { volumeMounts: [{ name: "data", mountPath: "/a", subPath: "../x" }] },
      [`${AT}.volumeMounts.subPath: Invalid value: "../x": must not contain '..'`],
    ],
    [
      { volumeMounts: [{ name: "data", mountPath: "/a", mountPropagation: "Bidirectional" }] },
      [
        `${AT}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
      ],
    ],
    [
      { volumeMounts: [{ name: "data", mountPath: "/a", recursiveReadOnly: "Enabled" }] },
      [`${AT}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`],
    ],
    [{ volumeDevices: [{ name: "disk", devicePath: "/dev/a" }] }, []],
    [
      { volumeDevices: [{ name: "data", devicePath: "/dev/a" }] },
      [
        `${AT}.volumeDevices[0].name: Invalid value: "data": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
      ],
    ],
  ])("%o", (more, expected) => {
    expect(problems(more)).toEqual(expected);
  });
});

describe("validation of probes and hooks", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ livenessProbe: { exec: { command: ["true"] } } }, []],
    [{ livenessProbe: {} }, [`${AT}.livenessProbe: Required value: must specify a handler type`]],
    [
      { livenessProbe: { exec: { command: ["true"] }, tcpSocket: { port: 1 } } },
      [`${AT}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
    ],
    [
      { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } },
      [`${AT}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
    ],
    [
      { readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 } },
      [
        `${AT}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`,
      ],
    ],
    [
      { startupProbe: { httpGet: { port: 0 } } },
      [`${AT}.startupProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`],
    ],
    [
      { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } },
      [`${AT}.readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`],
    ],
    [
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      [
        `${AT}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`,
      ],
    ],
  ])("%o", (more, expected) => {
    expect(problems(more)).toEqual(expected);
  });
});

describe("validation of resources", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ requests: { cpu: "1" }, limits: { cpu: "2" } }, []],
    [
      { requests: { cpu: "2" }, limits: { cpu: "1" } },
      [`${AT}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
    ],
    [
      { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } },
      [`${AT}.resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2`],
    ],
    [
      { requests: { "example.com/gpu": "1" } },
      [`${AT}.resources.limits: Required value: Limit must be set for non overcommitable resources`],
    ],
    [
      { limits: { pods: "1" } },
      [`${AT}.resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers`],
    ],
    [{ limits: { "hugepages-2Mi": "2Mi" } }, [`${AT}.resources: Forbidden: HugePages require cpu or memory`]],
    [
      { limits: { cpu: "1", "hugepages-2Mi": "3Mi" } },
      [
        `${AT}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      ],
    ],
    [
      { limits: { constructor: "1" } },
      [
        `${AT}.resources.limits[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified`,
      ],
    ],
    [
      { claims: [{ name: "gpu" }] },
      [
        `${AT}.resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty`,
      ],
    ],
  ])("%o", (resources, expected) => {
    expect([...new Set(problems({ resources }))].slice(0, expected.length || undefined)).toEqual(expected);
  });
});

describe("validation of security contexts", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ runAsUser: 1000, allowPrivilegeEscalation: false }, []],
    [
      { privileged: true, allowPrivilegeEscalation: false },
      [
        `${AT}.securityContext: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
      ],
    ],
    [
      { procMount: "Unmasked" },
      [
        `${AT}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
      ],
    ],
    [
      { appArmorProfile: { type: "RuntimeDefault", localhostProfile: "p" } },
      [
        `${AT}.securityContext.appArmorProfile.localhostProfile: Invalid value: "p": can only be set when AppArmor type is Localhost`,
      ],
    ],
  ])("%o", (securityContext, expected) => {
    expect(problems({ securityContext })).toEqual(expected);
  });
});

describe("init containers", () => {
  const init = (more: Manifest): readonly string[] =>
    probe.problems({
      spec: { containers: [container()], initContainers: [container({ name: "init", ...more })] },
    });
  const livenessProbe = { tcpSocket: { port: 1 } };

  test("have probes only with restartPolicy=Always", () => {
    expect(init({ livenessProbe, restartPolicy: "Always" })).toEqual([]);
    expect(init({ livenessProbe })).toEqual([
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ]);
  });

  test("restart for a resize only with restartPolicy=Always", () => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }];

    expect(init({ resizePolicy, restartPolicy: "Always" })).toEqual([]);
    expect(init({ resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }] })).toEqual([]);
    expect(init({ resizePolicy })).toEqual([
      "spec.initContainers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' for init containers without restartPolicy=Always",
    ]);
  });
});

describe("validation of ephemeral containers", () => {
  const ephemeral = (more: Manifest): readonly string[] =>
    probe.problems({
      spec: { containers: [container()], ephemeralContainers: [container({ name: "debug", ...more })] },
    });

  test.each<[Manifest, readonly string[]]>([
    [{ targetContainerName: "main" }, []],
    [
      { targetContainerName: "other" },
      ['spec.ephemeralContainers[0].targetContainerName: Not found: "other"'],
    ],
    [
      { ports: [{ containerPort: 1 }] },
      ["spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"],
    ],
    [
      { resources: { limits: { cpu: "1" } } },
      ["spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container"],
    ],
  ])("%o", (more, expected) => {
    expect(ephemeral(more)).toEqual(expected);
  });
});
