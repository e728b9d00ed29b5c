import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { csiDriver } from "./csi-driver.ts";
import { csiNode } from "./csi-node.ts";
import { csiStorageCapacity } from "./csi-storage-capacity.ts";
import { persistentVolumeClaim } from "./persistent-volume-claim.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { storageClass } from "./storage-class.ts";
import { volumeAttachment } from "./volume-attachment.ts";
import { volumeAttributesClass } from "./volume-attributes-class.ts";

describe("a PersistentVolume", () => {
  const probe = new KindProbe(persistentVolume);
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
  const csi = { driver: "d.example", volumeHandle: "h" };

  test("has the policy Retain by default, and starts pending", () => {
    expect(probe.created({ spec, status: { phase: "Bound" } })).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", hostPath: { type: "" } },
      status: { phase: "Pending", lastPhaseTransitionTime: "2026-01-02T03:04:05Z" },
    });
  });

  test("warns about deprecated features", () => {
    const metadata = { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } };
    const expression = { key: "beta.kubernetes.io/os", operator: "In", values: ["linux"] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } };
    const manifest = { ...spec, nodeAffinity, persistentVolumeReclaimPolicy: "Recycle" };

    expect(probe.warnings({ metadata, spec: manifest })).toEqual([
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
    expect(
      probe.warnings({ spec: { ...spec, hostPath: undefined, glusterfs: { endpoints: "e", path: "p" } } }),
    ).toEqual(["spec.glusterfs: deprecated in v1.25, non-functional in v1.26+"]);
    expect(probe.warnings({ spec })).toEqual([]);
  });

  test("records the time of its last phase change", () => {
    expect(probe.statusUpdated({ spec, status: { phase: "Bound" } }, { spec })).toMatchObject({
      status: { lastPhaseTransitionTime: "2026-01-02T03:04:05Z" },
    });
  });

  test.each([
    [spec, []],
    [{ ...spec, hostPath: undefined }, ["spec: Required value: must specify a volume type"]],
    [{ ...spec, csi }, ["spec.csi: Forbidden: may not specify more than 1 volume type"]],
    [{ ...spec, accessModes: [] }, ["spec.accessModes: Required value"]],
    [
      { ...spec, accessModes: ["ReadWriteOncePod", "ReadWriteMany"] },
      ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
    ],
    [
      { ...spec, capacity: {} },
      ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
    ],
    [
      { ...spec, capacity: { storage: "0" } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      { ...spec, hostPath: undefined, local: { path: "/x" } },
      ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    ],
    [
      { ...spec, hostPath: undefined, nfs: { server: "s", path: "x" } },
      ['spec.nfs.path: Invalid value: "x": must be an absolute path'],
    ],
    [{ ...spec, hostPath: undefined, csi: { driver: "d" } }, ["spec.csi.volumeHandle: Required value"]],
    [
      { ...spec, hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      { ...spec, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
      [
        "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term",
      ],
    ],
  ])("has one source and a size: %#", (it, problems) => {
    expect(probe.problems({ spec: it })).toEqual(problems);
  });

  test("keeps its source and mode", () => {
    expect(
      probe.updateProblems({ spec: { ...spec, hostPath: { path: "/y" }, volumeMode: "Block" } }, { spec }),
    ).toEqual([
      expect.stringMatching(
        /^spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n/,
      ),
      'volumeMode: Invalid value: "Block": field is immutable',
    ]);
    expect(probe.updateProblems({ spec: { ...spec, claimRef: { name: "a" } } }, { spec })).toEqual([]);
  });

  test("keeps its node affinity, except for newer label names", () => {
    const reached = (key: string): Manifest => {
      const matchExpressions = [{ key, operator: "In", values: ["a"] }];
      return { ...spec, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
    };
    const zone = reached("failure-domain.beta.kubernetes.io/zone");

    expect(probe.updateProblems({ spec: zone }, { spec })).toEqual([]);
    expect(probe.updateProblems({ spec: reached("topology.kubernetes.io/zone") }, { spec: zone })).toEqual(
      [],
    );
    for (const other of [reached("topology.kubernetes.io/region"), spec]) {
      expect(probe.updateProblems({ spec: other }, { spec: zone })).toEqual([
        expect.stringMatching(
          /^nodeAffinity: Invalid value: .*field is immutable, except for updating from beta label to GA$/,
        ),
      ]);
    }
  });

  test("shows its size, modes and claim", () => {
    const bound = { ...spec, storageClassName: "fast", claimRef: { namespace: "a", name: "b" } };

    expect(probe.cells({ spec: bound, status: { phase: "Bound" } })).toEqual([
      "it",
      "1Gi",
      "RWO",
      "Retain",
      "Bound",
      "a/b",
      "fast",
      "<unset>",
      "",
      "2m5s",
      "Filesystem",
    ]);
  });
});

describe("a PersistentVolumeClaim", () => {
  const probe = new KindProbe(persistentVolumeClaim);
  const resources = { requests: { storage: "1Gi" } };
  const spec = { accessModes: ["ReadWriteOnce"], resources };
  const source = { kind: "PersistentVolumeClaim", name: "a" };

  test("warns about a class in an annotation, and about fractions of a byte", () => {
    const metadata = { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } };
    const resources = { requests: { storage: "1500m" }, limits: { storage: "1.5" } };

    expect(probe.warnings({ metadata, spec: { accessModes: ["ReadWriteOnce"], resources } })).toEqual([
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
      'spec.resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
  });

  test("starts pending, with both fields for its data source", () => {
    expect(probe.created({ spec: { ...spec, dataSource: source } })).toMatchObject({
      spec: { volumeMode: "Filesystem", dataSourceRef: source },
      status: { phase: "Pending" },
    });
    expect(probe.created({ spec: { ...spec, dataSourceRef: source } })).toMatchObject({
      spec: { dataSource: source },
    });
    expect(probe.created({ spec: { ...spec, dataSource: { kind: "Odd", name: "a" } } })).not.toHaveProperty(
      "spec.dataSource",
    );
  });

  test.each([
    [spec, []],
    [{ resources }, ["spec.accessModes: Required value: at least 1 access mode is required"]],
    [{ ...spec, resources: {} }, ["spec.resources[storage]: Required value"]],
    [
      { ...spec, dataSourceRef: { kind: "Odd", name: "a", namespace: "b" } },
      [
        `spec.dataSourceRef: Invalid value: "Odd": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
      ],
    ],
  ])("has a valid size and access modes: %#", (it, problems) => {
    expect(probe.problems({ spec: it })).toEqual(problems);
  });

  test("may remove an attributes class that never took effect", () => {
    const wished = { ...spec, volumeAttributesClassName: "gold" };
    const updated = (name: string | undefined, status: Manifest): readonly string[] =>
      probe.updateProblems(
        { spec: name === undefined ? spec : { ...spec, volumeAttributesClassName: name }, status },
        { spec: wished, status },
      );
    const met = { ...bound, currentVolumeAttributesClassName: "silver" };
    const path = "spec.volumeAttributesClassName: Forbidden";
    const when = "is forbidden when status.currentVolumeAttributesClassName is not nil";

    expect(updated(undefined, bound)).toEqual([]);
    expect(updated("", bound)).toEqual([]);
    expect(updated("silver", met)).toEqual([]);
    expect(updated(undefined, met)).toEqual([`${path}: update to nil ${when}`]);
    expect(updated("", met)).toEqual([`${path}: update to empty string ${when}`]);
  });

  test("reports unknown resize states", () => {
    const status = { ...bound, allocatedResourceStatuses: { storage: "Odd" } };

    expect(probe.statusProblems({ spec, status })).toEqual([
      expect.stringMatching(/^status.allocatedResourceStatuses: Unsupported value: "storage": /),
    ]);
  });

  const IMMUTABLE =
    /^spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n/;
  const bound = { phase: "Bound", capacity: { storage: "1Gi" } };

  test.each([
    [{ ...spec, volumeName: "v" }, {}, []],
    [{ ...spec, storageClassName: "fast" }, {}, []],
    [{ ...spec, accessModes: ["ReadWriteMany"] }, {}, [expect.stringMatching(IMMUTABLE)]],
    [{ ...spec, resources: { requests: { storage: "2Gi" } } }, {}, [expect.stringMatching(IMMUTABLE)]],
    [{ ...spec, resources: { requests: { storage: "2Gi" } } }, bound, []],
  ])("has an immutable spec, except for size once bound: %#", (next, status, problems) => {
    const nextDraft = { spec: next, status };

    expect(probe.updateProblems(nextDraft, { spec })).toEqual(problems);
  });

  test("does not shrink below its actual size", () => {
    const next = { spec: { ...spec, resources: { requests: { storage: "500Mi" } } }, status: bound };

    expect(probe.updateProblems(next, { spec })).toEqual([]);
    expect(probe.updateProblems({ ...next, spec: { ...spec, resources: {} } }, { spec })).toEqual([
      expect.stringMatching(IMMUTABLE),
      "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
    ]);
  });

  test("shows its volume", () => {
    const status = {
      phase: "Bound",
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    };

    expect(probe.cells({ spec: { ...spec, volumeName: "v", storageClassName: "fast" }, status })).toEqual([
      "it",
      "Bound",
      "v",
      "1Gi",
      "RWO,ROX",
      "fast",
      "<unset>",
      "2m5s",
      "Filesystem",
    ]);
    expect(probe.cells({ spec })).toEqual(["it", "Pending", "", "", "", "", "<unset>", "2m5s", "Filesystem"]);
  });
});

describe("a StorageClass", () => {
  const probe = new KindProbe(storageClass);

  test("warns about deprecated node labels", () => {
    const matchLabelExpressions = [{ key: "failure-domain.beta.kubernetes.io/zone", values: ["a"] }];

    expect(probe.warnings({ provisioner: "a", allowedTopologies: [{ matchLabelExpressions }] })).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    ]);
  });

  test("has distinct topology terms, in any order, and no empty one", () => {
    const term = (...expressions: [string, ...string[]][]) => ({
      matchLabelExpressions: expressions.map(([key, ...values]) => ({ key, values })),
    });
    const problems = (...allowedTopologies: ReturnType<typeof term>[]) =>
      probe.problems({ provisioner: "a", allowedTopologies });
    const duplicate = (i: number) =>
      `allowedTopologies[${String(i)}].matchLabelExpressions: Duplicate value: ""`;

    expect(problems(term(["a", "x"]), term(["a", "y"]), term(["a", "x"], ["b", "y"]))).toEqual([]);
    expect(problems(term(["a", "x", "y"], ["b", "z"]), term(["b", "z"], ["a", "y", "x"]))).toEqual([
      duplicate(1),
    ]);
    expect(problems(term())).toEqual([duplicate(0)]);
  });

  test("with thousands of topology terms is validated quickly", () => {
    const allowedTopologies = Array.from({ length: 10_000 }, (_, n) => ({
      matchLabelExpressions: [{ key: `k${String(n)}`, values: ["a"] }],
    }));

    expect(probe.problems({ provisioner: "a", allowedTopologies })).toEqual([]);
  });

  test("deletes and binds immediately by default", () => {
    expect(probe.created({ provisioner: "a" })).toMatchObject({
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
    });
  });

  test.each([
    [{ provisioner: "a.b/c" }, []],
    [{}, ["provisioner: Required value"]],
    [
      { provisioner: "a", parameters: { "": "x" } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      { provisioner: "a", reclaimPolicy: "Recycle" },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
  ])("has a valid provisioner: %#", (manifest, problems) => {
    expect(probe.problems(manifest)).toEqual(problems);
  });

  test("keeps its provisioner and parameters", () => {
    const previous = { provisioner: "a" };
    const next = { provisioner: "b", parameters: { x: "y" }, volumeBindingMode: "WaitForFirstConsumer" };

    expect(probe.updateProblems(next, previous)).toEqual([
      "parameters: Forbidden: updates to parameters are forbidden.",
      "provisioner: Forbidden: updates to provisioner are forbidden.",
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ]);
    expect(probe.updateProblems({ ...previous, allowVolumeExpansion: true }, previous)).toEqual([]);
  });

  test("is marked as the default in its table row", () => {
    const metadata = { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } };

    expect(probe.cells({ metadata, provisioner: "a" })).toEqual([
      "it (default)",
      "a",
      "Delete",
      "Immediate",
      false,
      "2m5s",
    ]);
  });
});

describe("the kinds for storage drivers", () => {
  test("a CSIDriver attaches volumes by default, and keeps that setting", () => {
    const probe = new KindProbe(csiDriver);

    expect(probe.created({})).toMatchObject({
      spec: {
        attachRequired: true,
        fsGroupPolicy: "ReadWriteOnceWithFSType",
        volumeLifecycleModes: ["Persistent"],
      },
    });
    expect(probe.problems({ spec: { tokenRequests: [{ audience: "a", expirationSeconds: 1 }] } })).toEqual([
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
    ]);
    expect(probe.created({ spec: { preventPodSchedulingIfMissing: true } })).not.toHaveProperty(
      "spec.preventPodSchedulingIfMissing",
    );
    expect(probe.problems({ spec: { serviceAccountTokenInSecrets: false } })).toEqual([
      "spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
    ]);
    expect(
      probe.problems({ spec: { serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: "a" }] } }),
    ).toEqual([]);
    expect(probe.updateProblems({ spec: { attachRequired: false } }, {})).toEqual([
      "spec.attachedRequired: Invalid value: false: field is immutable",
    ]);
    expect(probe.cells({})).toEqual(["it", true, false, false, "<unset>", false, "Persistent", "2m5s"]);
    expect(
      probe.cells({
        spec: { requiresRepublish: true, tokenRequests: [{ audience: "a" }, { audience: "b" }] },
      }),
    ).toEqual(["it", true, false, false, "a,b", true, "Persistent", "2m5s"]);
  });

  test("a CSINode has unique, immutable drivers", () => {
    const probe = new KindProbe(csiNode);
    const driver = { name: "d.example", nodeID: "n", topologyKeys: [] };

    expect(probe.problems({ spec: { drivers: [driver] } })).toEqual([]);
    expect(probe.problems({ spec: { drivers: [driver, { ...driver, nodeID: "" }] } })).toEqual([
      "spec.drivers[1].nodeID: Required value",
      'spec.drivers[1].name: Duplicate value: "d.example"',
    ]);
    expect(
      probe.updateProblems(
        { spec: { drivers: [{ ...driver, nodeID: "m" }] } },
        { spec: { drivers: [driver] } },
      ),
    ).toEqual([expect.stringMatching(/^CSINodeDriver: Invalid value: .*field is immutable$/)]);
    expect(probe.cells({ spec: { drivers: [driver] } })).toEqual(["it", 1, "2m5s"]);
  });

  test("a CSIStorageCapacity keeps its class and topology", () => {
    const probe = new KindProbe(csiStorageCapacity);
    const capacity = { storageClassName: "fast", capacity: "1Gi" };

    expect(probe.problems(capacity)).toEqual([]);
    expect(probe.problems({ ...capacity, capacity: "-1" })).toEqual([
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ]);
    expect(probe.updateProblems({ ...capacity, storageClassName: "slow" }, capacity)).toEqual([
      'storageClassName: Invalid value: "slow": field is immutable',
    ]);
    expect(probe.cells(capacity)).toEqual(["it", "fast", "1Gi"]);
    const key = "beta.kubernetes.io/arch";
    const nodeTopology = { matchLabels: { [key]: "a" }, matchExpressions: [{ key, operator: "Exists" }] };
    expect(probe.warnings({ ...capacity, nodeTopology })).toEqual([
      `nodeTopology.matchExpressions[0].key: ${key} is deprecated since v1.14; use "kubernetes.io/arch" instead`,
      `nodeTopology.matchLabels.${key}: deprecated since v1.14; use "kubernetes.io/arch" instead`,
    ]);
  });

  test("a VolumeAttachment keeps its volume and node", () => {
    const probe = new KindProbe(volumeAttachment);
    const spec = { attacher: "d.example", nodeName: "n", source: { persistentVolumeName: "v" } };

    expect(probe.problems({ spec })).toEqual([]);
    expect(probe.problems({ spec: { ...spec, source: {} } })).toEqual([
      "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    ]);
    expect(
      probe.problems({
        spec: {
          ...spec,
          source: { inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1" } } },
        },
      }),
    ).toEqual([
      "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
    ]);
    expect(probe.updateProblems({ spec: { ...spec, nodeName: "m" } }, { spec })).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ]);
    expect(probe.cells({ spec })).toEqual(["it", "d.example", "v", "n", false, "2m5s"]);
  });

  test("a VolumeAttributesClass is immutable", () => {
    const probe = new KindProbe(volumeAttributesClass);
    const it = { driverName: "d.example", parameters: { iops: "1" } };

    expect(probe.problems(it)).toEqual([]);
    expect(probe.problems({ driverName: "d.example" })).toEqual([
      "parameters: Required value: must contain at least one key/value pair",
    ]);
    expect(probe.updateProblems({ ...it, parameters: { iops: "2" } }, it)).toEqual([
      "parameters: Forbidden: updates to parameters are forbidden.",
    ]);
    expect(probe.cells(it)).toEqual(["it", "d.example", "2m5s"]);
  });
});
