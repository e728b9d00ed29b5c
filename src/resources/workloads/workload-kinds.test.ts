/** Tests of the kinds that resemble a Deployment; their shared rules are tested there. */
import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { controllerRevision } from "./controller-revision.ts";
import { daemonSet } from "./daemon-set.ts";
import { podTemplate } from "./pod-template.ts";
import { replicaSet } from "./replica-set.ts";
import { replicationController } from "./replication-controller.ts";
import { statefulSet } from "./stateful-set.ts";

const template = (more: Manifest = {}): Manifest => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "nginx" }], ...more },
});
const withSpec = (more: Manifest = {}): Manifest => ({
  spec: { selector: { matchLabels: { app: "web" } }, template: template(), ...more },
});

describe("a ReplicaSet", () => {
  const probe = new KindProbe(replicaSet);

  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [{ selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]],
    [
      { minReadySeconds: -1 },
      ["spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("shows its replicas", () => {
    const status = { replicas: 2, readyReplicas: 1 };

    expect(probe.cells({ ...withSpec({ replicas: 3 }), status })).toEqual([
      "it",
      3,
      2,
      1,
      "2m5s",
      "web",
      "nginx",
      "app=web",
    ]);
  });

  test("does not report more ready or available replicas than replicas", () => {
    expect(
      probe.statusProblems({ ...withSpec(), status: { replicas: 1, fullyLabeledReplicas: 2 } }, withSpec()),
    ).toEqual(["status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas"]);
  });
});

describe("a ReplicationController", () => {
  const probe = new KindProbe(replicationController);

  test("takes its selector and labels from its template", () => {
    expect(probe.created({ spec: { template: template() } })).toMatchObject({
      metadata: { labels: { app: "web" } },
      spec: { replicas: 1, selector: { app: "web" } },
    });
  });

  test.each<[Manifest, readonly string[]]>([
    [{ template: template() }, []],
    [{ selector: { app: "web" } }, ["spec.template: Required value"]],
    [
      { selector: { app: "x" }, template: template() },
      [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("has a field selector for its number of replicas", () => {
    expect(probe.fields({ spec: {}, status: { replicas: 3 } })).toEqual({ "status.replicas": "3" });
  });

  test("shows its selector", () => {
    expect(probe.cells({ spec: { template: template() } })).toEqual([
      "it",
      1,
      0,
      0,
      "2m5s",
      "web",
      "nginx",
      "app=web",
    ]);
  });
});

describe("a DaemonSet", () => {
  const probe = new KindProbe(daemonSet);
  const strategy = (rollingUpdate: Manifest): Manifest => ({ updateStrategy: { rollingUpdate } });

  test("counts its templates and ignores the client's number", () => {
    const numbered = (generation: string, spec: Manifest = {}): Manifest => ({
      metadata: { annotations: { "deprecated.daemonset.template.generation": generation } },
      ...withSpec(spec),
    });
    const isAt = (generation: string): object => ({
      metadata: { annotations: { "deprecated.daemonset.template.generation": generation } },
    });
    const template = { metadata: { labels: { app: "web", other: "yes" } }, spec: { containers: [] } };

    expect(probe.created(withSpec())).toMatchObject(isAt("1"));
    expect(probe.created(numbered("-4"))).toMatchObject(isAt("1"));
    expect(probe.created(numbered("7"))).toMatchObject(isAt("7"));
    expect(probe.updated(withSpec({ minReadySeconds: 3 }), numbered("7"))).toMatchObject(isAt("7"));
    expect(probe.updated(numbered("99", { template }), numbered("7"))).toMatchObject(isAt("8"));
    expect(probe.statusUpdated(numbered("99"), numbered("7"))).toMatchObject(isAt("7"));
  });

  test("replaces one pod at a time by default", () => {
    expect(probe.created(withSpec())).toMatchObject({
      spec: {
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      },
    });
  });

  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [{ updateStrategy: { type: "OnDelete" } }, []],
    [
      strategy({ maxSurge: 1 }),
      [
        "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
      ],
    ],
    [
      strategy({ maxUnavailable: 0 }),
      ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
    ],
    [{ selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("shows its nodes", () => {
    const status = { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberReady: 1 };

    expect(probe.cells({ ...withSpec(), status })).toEqual([
      "it",
      3,
      2,
      1,
      0,
      0,
      "<none>",
      "2m5s",
      "web",
      "nginx",
      "app=web",
    ]);
  });
});

describe("a StatefulSet", () => {
  const probe = new KindProbe(statefulSet);
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };

  test("warns about fractions of a byte in its claims, and about a negative history limit", () => {
    const resources = { requests: { storage: "100m" } };
    const odd = { ...claim, spec: { ...claim.spec, resources } };
    const spec = { volumeClaimTemplates: [odd], revisionHistoryLimit: -1 };

    expect(probe.problems(withSpec({ revisionHistoryLimit: -1 }))).toEqual([]);
    expect(probe.warnings(withSpec(spec))).toEqual([
      'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer',
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
    ]);
    expect(probe.updateWarnings(withSpec({ volumeClaimTemplates: [odd] }), withSpec({}))).toEqual([
      'spec.volumeClaimTemplates[0].Spec.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer',
    ]);
  });

  test("starts its pods in order and retains their volumes by default", () => {
    expect(probe.created(withSpec({ volumeClaimTemplates: [claim] }))).toMatchObject({
      spec: {
        podManagementPolicy: "OrderedReady",
        replicas: 1,
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        volumeClaimTemplates: [
          {
            apiVersion: "v1",
            kind: "PersistentVolumeClaim",
            spec: { volumeMode: "Filesystem" },
            status: { phase: "Pending" },
          },
        ],
      },
    });
  });

  const mounting = (name: string): Manifest =>
    template({ containers: [{ name: "web", image: "nginx", volumeMounts: [{ name, mountPath: "/data" }] }] });

  test.each<[Manifest, readonly string[]]>([
    [{ volumeClaimTemplates: [claim], template: mounting("data") }, []],
    [
      { template: mounting("data") },
      ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    ],
    [
      { podManagementPolicy: "Wild" },
      ["spec.podManagementPolicy: Invalid value: \"Wild\": must be 'OrderedReady' or 'Parallel'"],
    ],
    [
      { updateStrategy: { type: "OnDelete", rollingUpdate: {} } },
      [
        "spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'",
      ],
    ],
    [
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      ["spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"],
    ],
    [
      { persistentVolumeClaimRetentionPolicy: { whenScaled: "Lose" } },
      [
        'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Lose": supported values: "Retain", "Delete"',
      ],
    ],
    [
      { ordinals: { start: -1 } },
      ["spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("changes only fields that its pods survive", () => {
    const next = { replicas: 3, minReadySeconds: 5, ordinals: { start: 1 }, revisionHistoryLimit: 2 };

    expect(probe.updateProblems(withSpec(next), withSpec())).toEqual([]);
    expect(probe.updateProblems(withSpec({ serviceName: "other" }), withSpec())).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
  });

  test("has a name that is a valid prefix of host names", () => {
    expect(probe.nameProblems("web")).toEqual([]);
    expect(probe.nameProblems("a.b")).toEqual(["must not contain dots"]);
  });

  test("shows its pods", () => {
    const status = { replicas: 2, readyReplicas: 1, availableReplicas: 0 };

    expect(probe.cells({ ...withSpec({ replicas: 3 }), status })).toEqual([
      "it",
      "1/3",
      "2m5s",
      "web",
      "nginx",
    ]);
  });
});

describe("a ControllerRevision", () => {
  const probe = new KindProbe(controllerRevision);

  test("has immutable data", () => {
    expect(probe.problems({ data: { a: 1 }, revision: 1 })).toEqual([]);
    expect(probe.problems({ revision: -1 })).toEqual([
      "data: Required value: data is mandatory",
      "revision: Invalid value: -1: must be greater than or equal to 0",
    ]);
    expect(probe.updateProblems({ data: { a: 1 }, revision: 2 }, { data: { a: 1 }, revision: 1 })).toEqual(
      [],
    );
    expect(probe.updateProblems({ data: { a: 2 } }, { data: { a: 1 } })).toEqual([
      'data: Invalid value: {"a":2}: field is immutable',
    ]);
  });

  test("shows its owner", () => {
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "1", controller: true };

    expect(probe.cells({ metadata: { ownerReferences: [owner] }, revision: 3 })).toEqual([
      "it",
      "statefulset.apps/web",
      3,
      "2m5s",
    ]);
    expect(probe.cells({ revision: 3 })[1]).toBe("<none>");
  });
});

describe("a PodTemplate", () => {
  const probe = new KindProbe(podTemplate);

  test("has a valid template", () => {
    expect(probe.problems({ template: template() })).toEqual([]);
    expect(probe.problems({ template: template({ containers: [] }) })).toEqual([
      "template.spec.containers: Required value",
    ]);
    expect(
      probe.problems({ template: template({ ephemeralContainers: [{ name: "d", image: "d" }] }) }),
    ).toEqual([
      "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
    ]);
  });

  test("shows the labels of its pods", () => {
    expect(probe.cells({ template: template() })).toEqual(["it", "web", "nginx", "app=web"]);
  });
});
