/** Tests the effect of a namespace's labels on pods, on objects with pod templates, and on the namespace itself. */
import { describe, expect, test } from "vitest";
import { AdmissionFixture } from "../../../admission-fixture.ts";
import type { AdmissionOutcome, Written } from "../../../admission-fixture.ts";
import { parsePodSecurityConfiguration } from "./configuration.ts";

const PREFIX = "pod-security.kubernetes.io/";
const PRIVILEGED = 'privileged (container "a" must not set securityContext.privileged=true)';

type Labels = Readonly<Record<string, string>>;

function namespace(labels: Labels, name = "home"): Written {
  const prefixed = Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [`${PREFIX}${key}`, value]),
  );
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: prefixed }, spec: {}, status: {} };
}

function bad(name: string, spec: object = {}, image = "x:1"): Written {
  const containers = [{ name: "a", image, securityContext: { privileged: true } }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "home" },
    spec: { containers, ...spec },
  };
}

function plain(name: string, spec: object = {}): Written {
  const containers = [{ name: "a", image: "x:1" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "home" },
    spec: { containers, ...spec },
  };
}

async function start(labels: Labels, configuration?: object): Promise<AdmissionFixture> {
  const podSecurity =
    configuration === undefined
      ? undefined
      : parsePodSecurityConfiguration({
          apiVersion: "pod-security.admission.config.k8s.io/v1",
          kind: "PodSecurityConfiguration",
          ...configuration,
        });
  const fixture = new AdmissionFixture({ podSecurity });
  await fixture.put("namespaces", namespace(labels));
  return fixture;
}

function create(fixture: AdmissionFixture, object: Written, resource = "pods"): Promise<AdmissionOutcome> {
  return fixture.attempt({ operation: "CREATE", resource, object });
}

function annotationsOf({ notes }: AdmissionOutcome): object {
  return Object.fromEntries([...notes.annotations].map(([key, value]) => [key.slice(PREFIX.length), value]));
}

describe("a pod", () => {
  test.each(["baseline", "restricted"])(
    "that runs as processes of the machine is refused at %s",
    async (enforce) => {
      const fixture = await start({ enforce });

      const metadata = { name: "native" };
      await fixture.put("runtimeclasses.node.k8s.io", {
        ...{ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata, handler: "process" },
      });

      const { code, refusal } = await create(fixture, plain("p", { runtimeClassName: "native" }));

      expect(code).toBe(403);
      expect(refusal).toContain('process runtime (pod must not set spec.runtimeClassName="native"');
      expect((await create(fixture, plain("q"))).refusal ?? "").not.toContain("process runtime");
    },
  );

  test("is refused if it violates the enforced level, and the audit log names the policy", async () => {
    const outcome = await create(await start({ enforce: "baseline", audit: "baseline" }), bad("p"));

    expect(outcome.code).toBe(403);
    expect(outcome.refusal).toBe(
      `pods "p" is forbidden: violates PodSecurity "baseline:latest": ${PRIVILEGED}`,
    );
    expect(outcome.notes.warnings).toEqual([]);
    expect(annotationsOf(outcome)).toEqual({
      "enforce-policy": "baseline:latest",
      "audit-violations": `would violate PodSecurity "baseline:latest": ${PRIVILEGED}`,
    });
  });

  test("causes a warning if the level is not enforced", async () => {
    const outcome = await create(await start({ warn: "baseline", "warn-version": "v1.30" }), bad("p"));

    expect(outcome.refusal).toBe("");
    expect(outcome.notes.warnings).toEqual([`would violate PodSecurity "baseline:v1.30": ${PRIVILEGED}`]);
    expect(annotationsOf(outcome)).toEqual({ "enforce-policy": "privileged:latest" });
  });

  test("is not checked in a namespace without labels", async () => {
    const outcome = await create(await start({}), bad("p"));

    expect(outcome.refusal).toBe("");
    expect(annotationsOf(outcome)).toEqual({});
  });

  test("that already exists may be labelled, but gets no other image and no other container", async () => {
    const fixture = await start({ enforce: "baseline" });
    const update = { operation: "UPDATE", resource: "pods", previous: bad("p") } as const;
    const labelled = { ...bad("p"), metadata: { name: "p", namespace: "home", labels: { a: "b" } } };
    const debugged = bad("p", { ephemeralContainers: [{ name: "d", image: "x:1" }] });

    expect((await fixture.attempt({ ...update, object: labelled })).refusal).toBe("");
    expect((await fixture.attempt({ ...update, object: bad("p", {}, "x:2") })).code).toBe(403);
    expect(
      (await fixture.attempt({ ...update, resource: "pods/ephemeralcontainers", object: debugged })).code,
    ).toBe(403);
  });

  test("must meet the restricted level if the labels are invalid", async () => {
    const outcome = await create(await start({ enforce: "strict" }), bad("p"));

    expect(outcome.refusal).toContain('violates PodSecurity "restricted:latest"');
    expect(annotationsOf(outcome)).toMatchObject({
      error: `Failed to parse policy: metadata.labels[${PREFIX}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`,
    });
  });
});

describe("an object with a pod template", () => {
  const template = { spec: bad("p")["spec"] };
  const metadata = { name: "m", namespace: "home" };
  const selector = { matchLabels: {} };
  const makers: readonly (readonly [resource: string, object: Written])[] = [
    [
      "deployments.apps",
      { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { selector, template } },
    ],
    [
      "replicasets.apps",
      { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { selector, template } },
    ],
    [
      "statefulsets.apps",
      { apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec: { selector, template } },
    ],
    ["daemonsets.apps", { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { selector, template } }],
    ["jobs.batch", { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } }],
    [
      "cronjobs.batch",
      { apiVersion: "batch/v1", kind: "CronJob", metadata, spec: { jobTemplate: { spec: { template } } } },
    ],
    [
      "replicationcontrollers",
      { apiVersion: "v1", kind: "ReplicationController", metadata, spec: { template } },
    ],
    ["podtemplates", { apiVersion: "v1", kind: "PodTemplate", metadata, template }],
  ];

  test.each(makers)("%s cause warnings and are never refused", async (resource, object) => {
    const fixture = await start({ enforce: "baseline", warn: "baseline", audit: "baseline" });

    const outcome = await create(fixture, object, resource);

    expect(outcome.refusal).toBe("");
    expect(outcome.notes.warnings).toEqual([`would violate PodSecurity "baseline:latest": ${PRIVILEGED}`]);
    expect(Object.keys(annotationsOf(outcome))).toEqual(["audit-violations"]);
  });

  test("is not checked if the template is missing", async () => {
    const fixture = await start({ warn: "baseline" });
    const object = { apiVersion: "v1", kind: "ReplicationController", metadata, spec: {} };

    expect((await create(fixture, object, "replicationcontrollers")).notes.warnings).toEqual([]);
  });
});

describe("a namespace", () => {
  test("lists its pods that run as processes of the machine", async () => {
    const fixture = await start({});
    await fixture.put("runtimeclasses.node.k8s.io", {
      ...{
        apiVersion: "node.k8s.io/v1",
        kind: "RuntimeClass",
        metadata: { name: "native" },
        handler: "process",
      },
    });
    await fixture.put("pods", plain("p", { runtimeClassName: "native" }));

    const change = { object: namespace({ enforce: "baseline" }), previous: namespace({}) };
    const { notes } = await fixture.attempt({ operation: "UPDATE", resource: "namespaces", ...change });

    expect(notes.warnings.at(-1)).toBe("p: process runtime");
  });

  const relabel = async (from: Labels, to: Labels): Promise<AdmissionOutcome> => {
    const fixture = await start(from);
    for (const name of ["b", "a", "c"]) await fixture.put("pods", bad(name));
    await fixture.put("pods", bad("d", { hostPID: true }));
    const change = { object: namespace(to), previous: namespace(from) };
    return fixture.attempt({ operation: "UPDATE", resource: "namespaces", ...change });
  };

  test("lists its pods that violate the new level", async () => {
    const { notes, refusal } = await relabel({ warn: "baseline" }, { enforce: "baseline" });

    expect(refusal).toBe("");
    expect(notes.warnings).toEqual([
      'existing pods in namespace "home" violate the new PodSecurity enforce level "baseline:latest"',
      "a (and 2 other pods): privileged",
      "d: host namespaces, privileged",
    ]);
  });

  test.each([
    [{ enforce: "restricted" }, { enforce: "baseline" }],
    [{ enforce: "baseline" }, { enforce: "baseline", warn: "restricted" }],
    [{ enforce: "baseline" }, { enforce: "privileged", "enforce-version": "v1.30" }],
  ])("from %o to %o causes no warning", async (from, to) => {
    expect((await relabel(from, to)).notes.warnings).toEqual([]);
  });

  test.each([
    [
      { warn: "some" },
      `[${PREFIX}warn]: Invalid value: "some": must be one of privileged, baseline, restricted`,
    ],
    [
      { "audit-version": "1.30" },
      `[${PREFIX}audit-version]: Invalid value: "1.30": must be "latest" or "v1.x"`,
    ],
  ])("is refused with the labels %o", async (labels, says) => {
    const outcome = await create(new AdmissionFixture(), namespace(labels), "namespaces");

    expect(outcome.code).toBe(422);
    expect(outcome.refusal).toBe(`Namespace "home" is invalid: metadata.labels${says}`);
  });

  test("keeps labels that were invalid before", async () => {
    expect((await relabel({ warn: "some" }, { warn: "some" })).refusal).toBe("");
    expect((await relabel({ warn: "some" }, { warn: "other" })).code).toBe(422);
  });
});

describe("the configuration", () => {
  test("sets the policy of namespaces without labels", async () => {
    const fixture = await start({}, { defaults: { enforce: "baseline", "enforce-version": "v1.30" } });

    expect((await create(fixture, bad("p"))).refusal).toContain('violates PodSecurity "baseline:v1.30"');
  });

  test.each([
    [{ namespaces: ["home"] }, "namespace", {}],
    [{ usernames: ["alice"] }, "user", {}],
    [{ runtimeClasses: ["vm"] }, "runtimeClass", { runtimeClassName: "vm" }],
  ])("exempts %o", async (exemptions, why, spec) => {
    const fixture = await start({ enforce: "baseline" }, { exemptions });
    await fixture.put("runtimeclasses.node.k8s.io", {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "vm" },
      handler: "vm",
    });

    const outcome = await create(fixture, bad("p", spec));

    expect(outcome.refusal).toBe("");
    expect(annotationsOf(outcome)).toEqual({ exempt: why });
  });

  test.each([
    [
      { defaults: { enforce: "strict" } },
      'defaults.enforce: Invalid value: "strict": must be one of privileged',
    ],
    [
      { defaults: { "warn-version": "1" } },
      'defaults.warn-version: Invalid value: "1": must be "latest" or "v1.x"',
    ],
    [{ defaults: { forbid: "x" } }, 'unknown field "defaults.forbid"'],
    [{ exemptions: { namespaces: "a" } }, "exemptions.namespaces must be a list of names"],
    [{ exemptions: { usernames: ["a", "a"] } }, "exemptions.usernames names something twice"],
    [{ kind: "Other" }, "must be a PodSecurityConfiguration of pod-security.admission.config.k8s.io/v1"],
  ])("%o is refused", async (configuration, says) => {
    await expect(start({}, configuration)).rejects.toThrow(says);
  });
});
