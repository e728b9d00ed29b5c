import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);

const container = (more: Manifest = {}): Manifest => ({ name: "main", image: "nginx:1.27", ...more });
const spec = (more: Manifest): readonly string[] =>
  probe.problems({ spec: { containers: [container()], ...more } });
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

describe("the spec of a pod", () => {
  test("is valid with one container", () => {
    expect(spec({})).toEqual([]);
  });

  test.each<[Manifest, readonly string[]]>([
    [{ containers: [] }, ["spec.containers: Required value"]],
    [
      { restartPolicy: "Sometimes" },
      [
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
    [
      { dnsPolicy: "None" },
      ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ],
    [
      { dnsConfig: { nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"] } },
      [
        'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
      ],
    ],
    [
      { activeDeadlineSeconds: 0 },
      ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ],
    [{ hostname: "A" }, [`spec.hostname: Invalid value: "A": ${LABEL}`]],
    [{ schedulingGates: [{ name: "a" }, { name: "a" }] }, ['spec.schedulingGates[1]: Duplicate value: "a"']],
    [
      { nodeName: "n", schedulingGates: [{ name: "a" }] },
      ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ],
    [
      { hostAliases: [{ ip: "x" }] },
      [
        'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      { overhead: { cpu: "-1" } },
      ['spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      { preemptionPolicy: "Maybe" },
      [
        'spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
      ],
    ],
    [
      { resourceClaims: [{ name: "c" }] },
      [
        'spec.resourceClaims[0]: Invalid value: {"name":"c"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
    [
      { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80, hostPort: 81 }] })] },
      [
        "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
      ],
    ],
    [
      {
        hostUsers: false,
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
        containers: [container({ volumeDevices: [{ name: "v", devicePath: "/dev/v" }] })],
      },
      ["spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false"],
    ],
    [
      {
        volumes: [{ name: "v", hostPath: { path: "/v" } }],
        containers: [
          container({
            env: ["v", "w"].map((volumeName) => ({
              name: volumeName,
              valueFrom: { fileKeyRef: { volumeName, path: "f", key: "K" } },
            })),
          }),
        ],
      },
      [
        'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir',
        'spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Not found: "w"',
      ],
    ],
    [
      { os: { name: "windows" }, resources: { claims: [{ name: "c" }] } },
      ["spec.resources: Forbidden: may not be set for a windows pod"],
    ],
    [{ hostUsers: false, hostPID: true }, ["spec.HostPID: Forbidden: when `hostUsers` is false"]],
    [
      { os: { name: "windows" }, securityContext: { runAsUser: 1 } },
      ["spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod"],
    ],
    [
      { os: { name: "plan9" } },
      ['spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ],
    [
      { securityContext: { runAsUser: -1 } },
      ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ],
    [
      { securityContext: { seccompProfile: { type: "Localhost" } } },
      [
        "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
      ],
    ],
    [
      {
        securityContext: {
          sysctls: [
            { name: "a.b", value: "1" },
            { name: "a.b", value: "2" },
          ],
        },
      },
      ['spec.securityContext.sysctls[1].name: Duplicate value: "a.b"'],
    ],
  ])("is refused with %o", (more, problems) => {
    expect(spec(more)).toEqual(problems);
  });
});

describe("validation of tolerations", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ operator: "Exists" }, []],
    [{ key: "a", value: "b", effect: "NoSchedule" }, []],
    [
      { value: "b" },
      [
        'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      { key: "a", operator: "Exists", value: "b" },
      ["spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
    ],
    [
      { key: "a", tolerationSeconds: 5 },
      [
        "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
      ],
    ],
    [
      { key: "a", effect: "Never" },
      [
        'spec.tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
  ])("%o", (toleration, problems) => {
    expect(spec({ tolerations: [toleration] })).toEqual(problems);
  });
});

describe("validation of affinity", () => {
  const nodeTerm = (expression: Manifest): Manifest => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [expression] }],
        },
      },
    },
  });
  const TERM =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]";

  test.each<[Manifest, readonly string[]]>([
    [{ key: "zone", operator: "In", values: ["a"] }, []],
    [
      { key: "zone", operator: "In" },
      [`${TERM}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
    ],
    [
      { key: "zone", operator: "Exists", values: ["a"] },
      [`${TERM}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
    ],
    [
      { key: "zone", operator: "Near" },
      [`${TERM}.operator: Invalid value: "Near": not a valid selector operator`],
    ],
  ])("to nodes with %o", (expression, problems) => {
    expect(spec(nodeTerm(expression))).toEqual(problems);
  });

  test("to pods needs a topology key", () => {
    const affinity = {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] },
    };

    expect(spec({ affinity })[0]).toBe(
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
    );
  });

  test("has weights from 1 to 100", () => {
    const preferred = [{ weight: 101, podAffinityTerm: { topologyKey: "zone" } }];
    const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };

    expect(spec({ affinity })).toEqual([
      "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
    ]);
  });
});

describe("validation of topology spread", () => {
  const good = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} };

  test.each<[Manifest, readonly string[]]>([
    [good, []],
    [
      { ...good, maxSkew: 0 },
      ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
    ],
    [
      { ...good, topologyKey: "" },
      ["spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"],
    ],
    [
      { ...good, whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 },
      [
        "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
      ],
    ],
  ])("%o", (constraint, problems) => {
    expect(spec({ topologySpreadConstraints: [constraint] })).toEqual(problems);
  });

  test("has no duplicate constraints", () => {
    expect(spec({ topologySpreadConstraints: [good, good] })).toEqual([
      'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
    ]);
  });
});

describe("validation of volumes", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ name: "v", emptyDir: { sizeLimit: "1Gi" } }, []],
    [
      { name: "v", emptyDir: {}, hostPath: { path: "/a" } },
      ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ],
    [{ emptyDir: {} }, ["spec.volumes[0].name: Required value"]],
    [
      { name: "v", hostPath: { path: "/a/../b" } },
      ["spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"],
    ],
    [{ name: "v", secret: {} }, ["spec.volumes[0].secret.secretName: Required value"]],
    [
      { name: "v", configMap: { name: "c", defaultMode: 512 } },
      [
        "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
      ],
    ],
    [
      { name: "v", configMap: { name: "c", items: [{ key: "k", path: "/abs" }] } },
      ['spec.volumes[0].configMap.items[0].path: Invalid value: "/abs": must be a relative path'],
    ],
    [
      { name: "v", nfs: { server: "s", path: "rel" } },
      ['spec.volumes[0].nfs.path: Invalid value: "rel": must be an absolute path'],
    ],
    [
      { name: "v", persistentVolumeClaim: {} },
      ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
    ],
    [
      { name: "v", projected: { sources: [{ secret: { name: "s" }, configMap: { name: "c" } }] } },
      ["spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
    ],
    [
      { name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      [
        "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
      ],
    ],
    [
      { name: "v", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "status.phase" } }] } },
      [
        'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      ],
    ],
    [
      {
        name: "v",
        ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "1Gi" } } } } },
      },
      [
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
      ],
    ],
    [{ name: "v", csi: { driver: "" } }, ["spec.volumes[0].csi.driver: Required value"]],
    [{ name: "v", image: {} }, ["spec.volumes[0].image.reference: Required value"]],
  ])("%o", (volume, problems) => {
    expect(spec({ volumes: [volume] }).slice(0, problems.length || undefined)).toEqual(problems);
  });

  test("requires unique names", () => {
    expect(spec({ volumes: [{ name: "v" }, { name: "v" }] })).toEqual([
      'spec.volumes[1].name: Duplicate value: "v"',
    ]);
  });
});

describe("pod-level resources", () => {
  test("cover the requests of the containers", () => {
    const containers = [container({ resources: { requests: { cpu: "2" } } })];

    expect(spec({ containers, resources: { requests: { cpu: "1" } } })).toEqual([
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ]);
  });

  test("cover the huge pages limits of the containers", () => {
    const pages = (amount: string): Manifest => {
      const list = { memory: "1Gi", "hugepages-2Mi": amount };
      return { requests: list, limits: list };
    };
    const containers = [
      container({ resources: pages("4Mi") }),
      container({ name: "b", resources: pages("2Mi") }),
    ];

    expect(spec({ containers, resources: { limits: { memory: "4Gi", "hugepages-2Mi": "4Mi" } } })).toContain(
      'spec.resources.limits[hugepages-2Mi]: Invalid value: "4Mi": must be greater than or equal to aggregate container limits of 6Mi',
    );
  });

  test("may be cpu, memory or huge pages", () => {
    expect(spec({ resources: { limits: { "ephemeral-storage": "1Gi" }, requests: { cpu: "1" } } })[0]).toBe(
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    );
  });
});
