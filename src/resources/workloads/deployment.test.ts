import { describe, expect, test } from "vitest";
import type { Deployment } from "../../api/generated/types/apps-v1.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import type { KindRules } from "../rules/kind-rules.ts";
import { deployment } from "./deployment.ts";

const probe = new KindProbe(deployment);
const rules = deployment.rules as KindRules<Deployment>;

const template = (more: Manifest = {}): Manifest => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "nginx" }], ...more },
});
const withSpec = (more: Manifest = {}): Manifest => ({
  spec: { selector: { matchLabels: { app: "web" } }, template: template(), ...more },
});
const build = (manifest: Manifest): Deployment => probe.created(manifest) as Draft<Deployment>;

describe("a Deployment", () => {
  test("has a rolling update of 25% by default", () => {
    expect(probe.created(withSpec())).toMatchObject({
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
        template: { spec: { restartPolicy: "Always", dnsPolicy: "ClusterFirst" } },
      },
    });
  });

  test("sets no defaults that depend on the pod", () => {
    const containers = [
      { name: "a", image: "a", resources: { limits: { cpu: "1" } }, ports: [{ containerPort: 80 }] },
    ];
    const created = probe.created(withSpec({ template: template({ hostNetwork: true, containers }) }));

    expect(created).not.toHaveProperty("spec.template.spec.enableServiceLinks");
    expect(created).not.toHaveProperty("spec.template.spec.containers.0.resources.requests");
    expect(created).not.toHaveProperty("spec.template.spec.containers.0.ports.0.hostPort");
  });

  test.each<[Manifest, readonly string[]]>([
    [{}, []],
    [{ replicas: -1 }, ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]],
    [{ selector: undefined }, ["spec.selector: Required value"]],
    [{ selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]],
    [
      { selector: { matchLabels: { app: "other" } } },
      [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
    [
      { template: template({ restartPolicy: "Never" }) },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      { template: template({ activeDeadlineSeconds: 5 }) },
      [
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
      ],
    ],
    [{ template: template({ containers: [] }) }, ["spec.template.spec.containers: Required value"]],
    [
      { strategy: { type: "Recreate", rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
    ],
    [
      { strategy: { rollingUpdate: { maxUnavailable: "101%" } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      { strategy: { type: "Slowly" } },
      ['spec.strategy: Unsupported value: {"type":"Slowly"}: supported values: "Recreate", "RollingUpdate"'],
    ],
    [
      { progressDeadlineSeconds: 5, minReadySeconds: 5 },
      ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems(withSpec(spec))).toEqual(problems);
  });

  test("keeps its selector", () => {
    const other = { selector: { matchLabels: { app: "x" } }, template: template() };

    expect(probe.updateProblems(withSpec({ replicas: 3 }), withSpec())).toEqual([]);
    expect(probe.updateProblems({ spec: other }, withSpec())).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable',
    ]);
  });

  test.each<[Manifest, readonly string[]]>([
    [{ replicas: 3, readyReplicas: 2, availableReplicas: 1 }, []],
    [
      { replicas: 1, readyReplicas: 2 },
      ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"],
    ],
    [
      { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
      ["status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas"],
    ],
    [{ replicas: -1 }, ["status.replicas: Invalid value: -1: must be greater than or equal to 0"]],
  ])("has a valid status %o", (status, problems) => {
    expect(
      probe.statusProblems({ ...withSpec(), status }, withSpec()).slice(0, problems.length || undefined),
    ).toEqual(problems);
  });

  test("never decreases its collision count", () => {
    const status = (collisionCount: number): Manifest => ({ ...withSpec(), status: { collisionCount } });

    expect(probe.statusProblems(status(1), status(2))).toEqual([
      "status.collisionCount: Invalid value: 1: cannot be decremented",
    ]);
  });

  test("gets a new generation when its annotations change", () => {
    const annotated = { metadata: { annotations: { a: "b" } }, ...withSpec() };

    expect(rules.isNewGeneration?.(build(annotated), build(withSpec()))).toBe(true);
    expect(rules.isNewGeneration?.(build(annotated), build(annotated))).toBe(false);
  });

  test("shows its replicas", () => {
    const status = { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };

    expect(probe.cells({ ...withSpec({ replicas: 3 }), status })).toEqual([
      "it",
      "2/3",
      3,
      1,
      "2m5s",
      "web",
      "nginx",
      "app=web",
    ]);
  });

  test("has a scale subresource", () => {
    const draft = probe.created(withSpec({ replicas: 3 })) as never;

    rules.scale?.setReplicas(draft, 5);

    expect(rules.scale?.replicas(draft)).toBe(5);
    expect(rules.scale?.statusReplicas(draft)).toBe(0);
    expect(rules.scale?.selector(draft)).toBe("app=web");
  });

  test("warns about its template", () => {
    const nodeSelector = { "beta.kubernetes.io/arch": "arm64" };

    expect(probe.warnings(withSpec({ template: template({ nodeSelector }) }))).toEqual([
      'spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
    expect(probe.warnings(withSpec({ template: template({ terminationGracePeriodSeconds: -1 }) }))).toEqual([
      "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
    ]);
  });

  test("repeats warnings only when its spec changes", () => {
    const nodeSelector = { "beta.kubernetes.io/arch": "arm64" };
    const before = withSpec({ template: template({ nodeSelector }) });

    expect(probe.updateWarnings({ ...before, metadata: { labels: { a: "b" } } }, before)).toEqual([]);
    expect(
      probe.updateWarnings(withSpec({ template: template({ nodeSelector }), replicas: 2 }), before),
    ).toHaveLength(1);
  });

  test("warns about AppArmor annotations of its template", () => {
    const annotations = { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" };
    const profiled = {
      ...template({ containers: [{ name: "a", image: "b" }] }),
      metadata: { labels: { app: "web" }, annotations },
    };

    expect(probe.warnings(withSpec({ template: profiled }))).toEqual([
      'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/a]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ]);
  });
});
