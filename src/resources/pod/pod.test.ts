import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);

const container = (more: Manifest = {}): Manifest => ({ name: "main", image: "nginx:1.27", ...more });
const withSpec = (spec: Manifest): Manifest => ({ spec: { containers: [container()], ...spec } });
const withContainer = (more: Manifest): Manifest => ({ spec: { containers: [container(more)] } });

describe("defaults of a pod", () => {
  test("set the fields that every pod has", () => {
    expect(probe.created(withSpec({}))).toMatchObject({
      spec: {
        containers: [
          {
            imagePullPolicy: "IfNotPresent",
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            resources: {},
          },
        ],
        dnsPolicy: "ClusterFirst",
        enableServiceLinks: true,
        restartPolicy: "Always",
        schedulerName: "default-scheduler",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
  });

  test("turn a negative grace period into one second", () => {
    expect(probe.read(withSpec({ terminationGracePeriodSeconds: -5 }))).toMatchObject({
      spec: { terminationGracePeriodSeconds: 1 },
    });
  });

  test.each([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["registry:5000/nginx", "Always"],
    ["registry:5000/nginx:1", "IfNotPresent"],
    ["nginx@sha256:abc", "IfNotPresent"],
    ["nginx:latest@sha256:abc", "IfNotPresent"],
    ["", "IfNotPresent"],
  ])("choose for image %s the pull policy %s", (image, policy) => {
    expect(probe.read(withContainer({ image }))).toMatchObject({
      spec: { containers: [{ imagePullPolicy: policy }] },
    });
  });

  test("complete probes, ports and variables", () => {
    const filled = probe.read(
      withContainer({
        ports: [{ containerPort: 80 }],
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { grpc: { port: 80 } },
      }),
    );

    expect(filled).toMatchObject({
      spec: {
        containers: [
          {
            ports: [{ protocol: "TCP" }],
            env: [{ valueFrom: { fieldRef: { apiVersion: "v1" } } }],
            livenessProbe: {
              failureThreshold: 3,
              periodSeconds: 10,
              successThreshold: 1,
              timeoutSeconds: 1,
              httpGet: { path: "/", scheme: "HTTP" },
            },
            readinessProbe: { grpc: { service: "" } },
          },
        ],
      },
    });
  });

  test.each([
    [{}, { emptyDir: {} }],
    [{ secret: { secretName: "s" } }, { secret: { defaultMode: 420 } }],
    [{ configMap: { name: "c" } }, { configMap: { defaultMode: 420 } }],
    [{ downwardAPI: {} }, { downwardAPI: { defaultMode: 420 } }],
    [{ hostPath: { path: "/a" } }, { hostPath: { type: "" } }],
    [{ image: { reference: "a:latest" } }, { image: { pullPolicy: "Always" } }],
    [
      { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
    ],
    [
      { rbd: { image: "i", monitors: ["m"] } },
      { rbd: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } },
    ],
  ])("complete the volume %o", (source, filled) => {
    expect(probe.read(withSpec({ volumes: [{ name: "v", ...source }] }))).toMatchObject({
      spec: { volumes: [filled] },
    });
  });

  test("take requests from limits", () => {
    const resources = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } };

    expect(probe.read(withContainer({ resources }))).toMatchObject({
      spec: { containers: [{ resources: { requests: { cpu: "500m", memory: "1Gi" } } }] },
    });
  });

  test("take host ports from container ports on the host network", () => {
    const spec = { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80 }] })] };

    expect(probe.read({ spec })).toMatchObject({ spec: { containers: [{ ports: [{ hostPort: 80 }] }] } });
  });

  test.each([
    [{ serviceAccount: "old" }, "old"],
    [{ serviceAccountName: "new" }, "new"],
    [{ serviceAccount: "old", serviceAccountName: "new" }, "new"],
  ])("set both names of the service account: %o", (spec, name) => {
    expect(probe.read(withSpec(spec))).toMatchObject({
      spec: { serviceAccount: name, serviceAccountName: name },
    });
  });

  test("are the same when applied twice", () => {
    const once = probe.read(withSpec({ volumes: [{ name: "v" }] }));

    expect(probe.read(once)).toEqual(once);
  });
});

describe("the QoS class", () => {
  test.each([
    [{}, "BestEffort"],
    [{ requests: { cpu: "1" } }, "Burstable"],
    [{ limits: { cpu: "1" } }, "Burstable"],
    [{ limits: { cpu: "1", memory: "1Gi" } }, "Guaranteed"],
    [{ limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m", memory: "1Gi" } }, "Burstable"],
    [{ requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } }, "BestEffort"],
  ])("of %o is %s", (resources, qosClass) => {
    expect(probe.created(withContainer({ resources }))).toMatchObject({ status: { qosClass } });
  });
});

describe("a new pod", () => {
  test("with scheduling gates has a condition that shows them", () => {
    expect(probe.created(withSpec({ schedulingGates: [{ name: "a" }] }))).toMatchObject({
      status: {
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "SchedulingGated",
            lastTransitionTime: "2026-01-02T03:04:05Z",
          },
        ],
      },
    });
  });

  test("has its own label values in selectors with matchLabelKeys", () => {
    const term = { topologyKey: "zone", labelSelector: {}, matchLabelKeys: ["app"] };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const created = probe.created({ metadata: { labels: { app: "web" } }, ...withSpec({ affinity }) });

    const expressions = [{ key: "app", operator: "In", values: ["web"] }];
    expect(created).toHaveProperty(
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions",
      expressions,
    );
  });

  test("has no ephemeral containers", () => {
    const manifest = {
      metadata: { generation: 1 },
      ...withSpec({ ephemeralContainers: [container({ name: "debug" })] }),
    };

    expect(probe.problems(manifest)).toEqual([
      "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ]);
  });
});

describe("field selectors of a pod", () => {
  test("select by node, phase and settings", () => {
    const manifest = {
      spec: { containers: [container()], nodeName: "n1", hostNetwork: true },
      status: { phase: "Running", podIP: "10.0.0.1" },
    };

    expect(probe.fields(manifest)).toEqual({
      "spec.host": "n1",
      "spec.hostNetwork": "true",
      "spec.nodeName": "n1",
      "spec.restartPolicy": "Always",
      "spec.schedulerName": "default-scheduler",
      "spec.serviceAccountName": "",
      "status.nominatedNodeName": "",
      "status.phase": "Running",
      "status.podIP": "10.0.0.1",
      "status.podIPs": "10.0.0.1",
    });
  });
});

describe("warnings about a pod", () => {
  test.each([
    [
      { nodeSelector: { "beta.kubernetes.io/os": "linux" } },
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      { volumes: [{ name: "v", rbd: { image: "i", monitors: ["m"] } }] },
      "spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+",
    ],
    [
      {
        containers: [
          container({
            env: [
              { name: "A", value: "1" },
              { name: "A", value: "2" },
            ],
          }),
        ],
      },
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
    [
      { containers: [container({ resources: { limits: { memory: "1500m" } } })] },
      'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    ],
    [
      {
        containers: [
          container({ ports: [{ containerPort: 1 }] }),
          container({ name: "b", ports: [{ containerPort: 1 }] }),
        ],
      },
      "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
    ],
    [
      {
        containers: [
          container({ ports: [{ containerPort: 1, name: "web" }] }),
          container({ name: "b", ports: [{ containerPort: 2, name: "web" }] }),
        ],
      },
      'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
    [
      { containers: [container({ ports: [{ containerPort: 80, protocol: "UDP", hostIP: "10.0.0.1" }] })] },
      "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:UDP HostIP:10.0.0.1}",
    ],
    [
      {
        containers: [
          container({
            ports: [
              { containerPort: 80, hostPort: 80, hostIP: "10.0.0.1" },
              { containerPort: 80, hostPort: 80 },
            ],
          }),
        ],
      },
      "spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]",
    ],
    [
      {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: "zone" } },
            ],
          },
        },
      },
      "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
    ],
    [
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In", values: ["-1"] }] } },
            ],
          },
        },
      },
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: -1 is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      {
        volumes: [
          {
            name: "v",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "200m" } } },
              },
            },
          },
        ],
      },
      'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "200m" is invalid, must be an integer',
    ],
    [
      {
        volumes: [
          {
            name: "v",
            configMap: {
              name: "m",
              items: [
                { key: "a", path: "dir" },
                { key: "b", path: "dir/file" },
              ],
            },
          },
        ],
      },
      'volume "v" (ConfigMap "m"): overlapping paths: "dir/file" with "dir"',
    ],
    [
      {
        volumes: [
          {
            name: "v",
            projected: {
              sources: [
                { secret: { name: "s", items: [{ key: "a", path: "test" }] } },
                { serviceAccountToken: { path: "test" } },
              ],
            },
          },
        ],
      },
      'volume "v" (Projected): overlapping paths: "test" (ServiceAccountToken) with "test" (Secret "s")',
    ],
  ])("%o", (spec, warning) => {
    expect(probe.warnings(withSpec(spec))).toContain(warning);
  });

  test("are bounded in number for overlapping paths of thousands of files", () => {
    const items = Array.from({ length: 20_000 }, (_, n) => ({ key: "a", path: `dir/${String(n % 10_000)}` }));
    const volumes = [{ name: "v", configMap: { name: "m", items } }];

    expect(probe.warnings(withSpec({ volumes })).filter((text) => text.includes("overlapping"))).toHaveLength(
      64,
    );
  });

  test("mention names that are no valid host names", () => {
    expect(probe.warnings({ metadata: { name: "a.b" }, ...withSpec({}) })).toEqual([
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ]);
  });

  test("mention profiles in annotations that no longer have an effect", () => {
    const annotations = {
      "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
      "container.seccomp.security.alpha.kubernetes.io/a": "runtime/default",
    };
    const advice = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    const securityContext = { seccompProfile: { type: "RuntimeDefault" } };
    const bare = withSpec({ containers: [container({ name: "a" })] });
    const told = withSpec({ securityContext, containers: [container({ name: "a", securityContext })] });

    expect(probe.warnings({ metadata: { annotations }, ...bare })).toEqual([
      `metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: ${advice}`,
      `metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]: ${advice}`,
    ]);
    expect(probe.warnings({ metadata: { annotations }, ...told })).toEqual([]);
  });

  test("ignore paths that only share a prefix", () => {
    const items = ["dir/a", "dir/ab", "dirs"].map((path) => ({ key: path, path }));
    const volumes = [{ name: "v", secret: { secretName: "s", items } }];

    expect(probe.warnings(withSpec({ volumes }))).toEqual([]);
  });

  test("are returned on create only", () => {
    const spec = { nodeSelector: { "beta.kubernetes.io/os": "linux" } };

    expect(probe.updateWarnings(withSpec(spec), withSpec(spec))).toEqual([]);
  });

  test("are empty for an ordinary pod", () => {
    expect(probe.warnings(withSpec({}))).toEqual([]);
  });
});
