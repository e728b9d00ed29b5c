/** Policies with the real kubectl: its output, and the usage in Kubernetes' own conformance tests. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { listOf } from "../api-harness.ts";
import { describePeer } from "../peers.ts";
import type { Kubectl } from "./kubectl/kubectl.ts";
import { table } from "./kubectl/kubectl.ts";
import { Session } from "./kubectl/session.ts";

interface Plan {
  readonly spec: object;
  readonly binding?: object;
}

interface Warning {
  readonly fieldRef: string;
  readonly warning: string;
}

const DEPLOYMENTS = {
  resourceRules: [
    {
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      operations: ["CREATE", "UPDATE"],
      resources: ["deployments"],
    },
  ],
};

describePeer("kubectl", "kubectl and policies", (path) => {
  let session: Session;
  beforeAll(async () => {
    session = await Session.start(path, { loops: ["serviceaccount-controller"], nodes: 0 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  /** Registers a policy for the namespace of one test; the namespace is its name. */
  async function register(
    kubectl: Kubectl,
    type: "Mutating" | "Validating",
    { spec, binding = {} }: Plan,
  ): Promise<void> {
    const { namespace: name } = kubectl;
    const apiVersion = "admissionregistration.k8s.io/v1";
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": name } };
    const items = [
      {
        apiVersion,
        kind: `${type}AdmissionPolicy`,
        metadata: { name },
        spec: { matchConstraints: DEPLOYMENTS, ...spec },
      },
      {
        apiVersion,
        kind: `${type}AdmissionPolicyBinding`,
        metadata: { name },
        spec: { policyName: name, matchResources: { namespaceSelector }, ...binding },
      },
    ];
    await kubectl.ok("apply", "-f", kubectl.file("policy.json", { apiVersion: "v1", kind: "List", items }));
  }

  test("a deployment with too many replicas is refused, by an expression with variables", async () => {
    const kubectl = session.namespace();
    await register(kubectl, "Validating", {
      spec: {
        variables: [
          { name: "replicas", expression: "object.spec.replicas" },
          { name: "oddReplicas", expression: "variables.replicas % 2 == 1" },
        ],
        validations: [
          { expression: "variables.replicas > 1" },
          { expression: "variables.oddReplicas", message: "replicas must be odd", reason: "Forbidden" },
        ],
      },
      binding: { validationActions: ["Deny"] },
    });
    const create = ["create", "deployment", "web", "--image=web:1"];

    expect(await kubectl.refused(...create, "--replicas=4")).toBe(
      `error: failed to create deployment: deployments.apps "web" is forbidden: ValidatingAdmissionPolicy '${kubectl.namespace}' with binding '${kubectl.namespace}' denied request: replicas must be odd\n`,
    );
    expect(await kubectl.refused(...create, "--replicas=1")).toContain(
      "denied request: failed expression: variables.replicas > 1",
    );
    expect(await kubectl.ok(...create, "--replicas=3")).toBe("deployment.apps/web created\n");
  });

  test("a warning is shown, and the object is there", async () => {
    const kubectl = session.namespace();
    await register(kubectl, "Validating", {
      spec: { validations: [{ expression: "object.spec.replicas < 3", message: "that is a lot" }] },
      binding: { validationActions: ["Warn", "Audit"] },
    });

    const { stdout, stderr } = await kubectl.run(
      "create",
      "deployment",
      "web",
      "--image=web:1",
      "--replicas=3",
    );

    expect(stdout).toBe("deployment.apps/web created\n");
    expect(stderr).toBe(
      `Warning: Validation failed for ValidatingAdmissionPolicy '${kubectl.namespace}' with binding '${kubectl.namespace}': that is a lot\n`,
    );
  });

  test("an object of a kind of one's own says how much is allowed", async () => {
    const kubectl = session.namespace();
    const group = `${kubectl.namespace}.example.com`;
    const schema = {
      type: "object",
      properties: { maxReplicas: { type: "integer" } },
    };
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `replicalimits.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "replicalimits", kind: "ReplicaLimit" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    await kubectl.ok("apply", "-f", kubectl.file("definition.json", definition));
    await kubectl.ok("wait", "--for=condition=Established", `crd/replicalimits.${group}`);
    const limit = {
      apiVersion: `${group}/v1`,
      kind: "ReplicaLimit",
      metadata: { name: "limit" },
      maxReplicas: 2,
    };
    await kubectl.ok("apply", "-f", kubectl.file("limit.json", limit));
    await register(kubectl, "Validating", {
      spec: {
        paramKind: { apiVersion: `${group}/v1`, kind: "ReplicaLimit" },
        validations: [
          {
            expression: "object.spec.replicas <= params.maxReplicas",
            messageExpression: "'object.spec.replicas must be no greater than ' + string(params.maxReplicas)",
          },
        ],
      },
      binding: {
        validationActions: ["Deny"],
        paramRef: { name: "limit", parameterNotFoundAction: "Deny" },
      },
    });

    expect(await kubectl.ok("create", "deployment", "few", "--image=web:1", "--replicas=2")).toContain(
      "created",
    );
    expect(await kubectl.refused("create", "deployment", "many", "--image=web:1", "--replicas=3")).toContain(
      "denied request: object.spec.replicas must be no greater than 2",
    );
  });

  test("a deployment gets the annotations and the replicas that a policy wants", async () => {
    const kubectl = session.namespace();
    await register(kubectl, "Mutating", {
      spec: {
        reinvocationPolicy: "Never",
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: {
              expression: `Object{
                metadata: Object.metadata{annotations: {"my-foo-annotation": "myAnnotationValue"}},
                spec: Object.spec{replicas: object.spec.replicas + 100}
              }`,
            },
          },
          {
            patchType: "JSONPatch",
            jsonPatch: {
              expression:
                "[JSONPatch{op: 'add', path: '/spec/template/metadata/labels/env', value: object.metadata.namespace}]",
            },
          },
        ],
      },
    });

    await kubectl.ok("create", "deployment", "web", "--image=web:1", "--replicas=2");

    const made = await kubectl.json("get", "deployment", "web");
    expect(made["metadata"]?.["annotations"]).toMatchObject({ "my-foo-annotation": "myAnnotationValue" });
    expect(made["spec"]?.["replicas"]).toBe(102);
    expect(made["spec"]?.["template"]?.["metadata"]?.["labels"]).toEqual({
      app: "web",
      env: kubectl.namespace,
    });
  });

  test("what does not fit the types of a kind is told in the policy's status", async () => {
    const kubectl = session.namespace();
    await register(kubectl, "Validating", {
      spec: { validations: [{ expression: "object.spec.replicas > '1'" }] },
      binding: { validationActions: ["Warn"] },
    });
    const policy = `validatingadmissionpolicy/${kubectl.namespace}`;

    await kubectl.ok("wait", "--for=jsonpath={.status.observedGeneration}=1", policy);

    const { status } = await kubectl.json("get", policy);
    const warnings = listOf<Warning>(status?.["typeChecking"]?.["expressionWarnings"]);
    expect(warnings.map(({ fieldRef }) => fieldRef)).toEqual(["spec.validations[0].expression"]);
    expect(warnings[0]?.warning).toContain(
      "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'",
    );
  });

  test("get shows policies and bindings with their columns", async () => {
    const kubectl = session.namespace();
    const { namespace: name } = kubectl;
    await register(kubectl, "Validating", {
      spec: { validations: [{ expression: "true" }] },
      binding: { validationActions: ["Deny"] },
    });

    expect(table(await kubectl.ok("get", "validatingadmissionpolicies", name))).toEqual([
      ["NAME", "VALIDATIONS", "PARAMKIND", "AGE"],
      [name, "1", "<unset>", "AGE"],
    ]);
    expect(table(await kubectl.ok("get", "validatingadmissionpolicybindings", name))).toEqual([
      ["NAME", "POLICYNAME", "PARAMREF", "AGE"],
      [name, name, "<unset>", "AGE"],
    ]);
  });

  test("a policy with a mistake in an expression is refused with the place of it", async () => {
    const kubectl = session.namespace();
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: kubectl.namespace },
      spec: {
        matchConstraints: DEPLOYMENTS,
        validations: [{ expression: "object.spec.replicas > variables.x" }],
      },
    };

    expect(await kubectl.refused("apply", "-f", kubectl.file("policy.json", policy))).toBe(
      `The ValidatingAdmissionPolicy "${kubectl.namespace}" is invalid: spec.validations[0].expression: Invalid value: "object.spec.replicas > variables.x": compilation failed: ERROR: <input>:1:33: undefined field 'x'\n | object.spec.replicas > variables.x\n | ................................^\n`,
    );
  });
});
