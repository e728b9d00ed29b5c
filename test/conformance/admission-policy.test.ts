/** Validating policies through the API: the requests they refuse, warn about or annotate. */
import { describe, expect, test } from "vitest";
import { TestApi } from "../api-harness.ts";
import {
  deployment,
  DEPLOYMENTS,
  GROUP,
  map,
  MAPS,
  messageOf,
  ON_MAPS,
  put,
  validate,
} from "./admission-policy-fixture.ts";

describe("a validating policy", () => {
  test("refuses what does not hold, in upstream's words, from the next request on", async () => {
    await using api = await TestApi.start();
    await validate(api, {
      spec: { validations: [{ expression: "object.data.size() < 2", message: "too much" }] },
    });

    const refused = await api.send("POST", MAPS, map("a", { x: "1", y: "2" }));
    const taken = await api.send("POST", MAPS, map("a", { x: "1" }));

    expect(refused.code).toBe(422);
    expect(messageOf(refused)).toBe(
      `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: too much`,
    );
    expect(refused.body["reason"]).toBe("Invalid");
    expect(refused.body["details"]?.["causes"]).toEqual([
      { message: "ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: too much" },
    ]);
    expect(taken.code).toBe(201);
  });

  test("sees whose fields they are, also of a new object", async () => {
    await using api = await TestApi.start();
    const expression = "object.metadata.managedFields.exists(entry, entry.manager == 'me')";
    await validate(api, { spec: { validations: [{ expression }] } });
    const apply = { type: "application/apply-patch+yaml" };

    const mine = await api.send("POST", `${MAPS}?fieldManager=me`, map("a", { x: "1" }));
    const theirs = await api.send("POST", `${MAPS}?fieldManager=they`, map("b", { x: "1" }));
    const applied = await api.send("PATCH", `${MAPS}/c?fieldManager=me`, map("c", { x: "1" }), apply);

    expect([mine.code, theirs.code, applied.code]).toEqual([201, 422, 201]);
  });

  test("is no longer in force once it or its binding is gone", async () => {
    await using api = await TestApi.start();
    await validate(api, { spec: { validations: [{ expression: "false" }] } });
    expect((await api.send("POST", MAPS, map("a"))).code).toBe(422);

    await api.send("DELETE", `${GROUP}/validatingadmissionpolicybindings/p-b`);

    expect((await api.send("POST", MAPS, map("a"))).code).toBe(201);
  });

  test.each([
    ["Forbidden", 403],
    ["Unauthorized", 401],
    ["RequestEntityTooLarge", 413],
    ["Invalid", 422],
  ])("answers %s with %d", async (reason, code) => {
    await using api = await TestApi.start();
    await validate(api, { spec: { validations: [{ expression: "false", reason }] } });

    const reply = await api.send("POST", MAPS, map("a"));

    expect(reply.code).toBe(code);
    expect(messageOf(reply)).toContain("denied request: failed expression: false");
  });

  test("has no name for what is deleted with others", async () => {
    await using api = await TestApi.start();
    await put(api, MAPS, map("a", {}, { labels: { go: "yes" } }));
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["configmaps"] };
    const matchConstraints = { resourceRules: [rule] };
    await validate(api, { spec: { matchConstraints, validations: [{ expression: "has(request.name)" }] } });

    const all = await api.send("DELETE", `${MAPS}?labelSelector=go%3Dyes`);
    const one = await api.send("DELETE", `${MAPS}/a`);

    expect(messageOf(all)).toContain('configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy');
    expect(one.code).toBe(200);
  });

  test("says what an expression makes of the request", async () => {
    await using api = await TestApi.start();
    const messageExpression = "'%s has %d'.format([object.metadata.name, object.data.size()])";
    await validate(api, {
      spec: { validations: [{ expression: "false", message: "no", messageExpression }] },
    });

    expect(messageOf(await api.send("POST", MAPS, map("a", { x: "1" })))).toContain(
      "denied request: a has 1",
    );
  });

  test("has variables that are worked out when they are needed", async () => {
    await using api = await TestApi.start();
    const variables = [
      { name: "broken", expression: "object.data.none" },
      { name: "keys", expression: "object.data.map(key, key)" },
      { name: "count", expression: "variables.keys.size()" },
    ];
    const validations = [
      {
        expression: "variables.count <= 1 || variables.broken == 'x'",
        messageExpression: "string(variables.count)",
      },
    ];
    await validate(api, { spec: { variables, validations } });

    expect((await api.send("POST", MAPS, map("a", { x: "1" }))).code).toBe(201);
    expect(messageOf(await api.send("POST", MAPS, map("b", { x: "1", y: "2" })))).toContain(
      `composited variable "broken" fails to evaluate: no such key: none`,
    );
  });

  test("sees what was there before, who asks, the namespace and the request", async () => {
    await using api = await TestApi.start();
    const validations = [
      "request.operation == 'CREATE' ? oldObject == null : oldObject.data.x == '1'",
      "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.name == 'a'",
      "request.namespace == 'default' && namespaceObject.metadata.name == 'default' && !request.dryRun",
      "request.userInfo.groups.size() > 0 && request.userInfo.username != ''",
      "authorizer.requestResource.check('create').allowed()",
      "object.metadata.namespace == 'default'",
    ].map((expression) => ({ expression }));
    await validate(api, { spec: { validations } });

    expect(messageOf(await api.send("POST", MAPS, map("a", { x: "1" })))).toBe("");
    expect(messageOf(await api.send("PUT", `${MAPS}/a`, map("a", { x: "2" })))).toBe("");
    expect(messageOf(await api.send("PUT", `${MAPS}/a`, map("a", { x: "3" })))).toContain(
      "failed expression",
    );
  });

  test("sees deletions with what is deleted", async () => {
    await using api = await TestApi.start();
    const rule = { ...ON_MAPS.resourceRules[0], operations: ["DELETE"] };
    await validate(api, {
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: "object == null && oldObject.metadata.name != 'kept'" }],
      },
    });
    await put(api, MAPS, map("kept"));
    await put(api, MAPS, map("other"));

    expect((await api.send("DELETE", `${MAPS}/kept`)).code).toBe(422);
    expect((await api.send("DELETE", `${MAPS}/other`)).code).toBe(200);
  });

  test("warns or writes to the audit log instead, when its binding says so", async () => {
    await using api = await TestApi.start();
    await validate(api, {
      spec: { validations: [{ expression: "false", message: "no" }] },
      binding: { validationActions: ["Warn", "Audit"] },
    });

    const reply = await api.send("POST", MAPS, map("a"));

    expect(reply.code).toBe(201);
    expect(reply.headers.get("warning")).toContain(
      "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': no",
    );
  });

  test("is asked only where its conditions hold", async () => {
    await using api = await TestApi.start();
    const matchConditions = [{ name: "named", expression: "object.metadata.name.startsWith('x')" }];
    await validate(api, { spec: { matchConditions, validations: [{ expression: "false" }] } });

    expect((await api.send("POST", MAPS, map("a"))).code).toBe(201);
    expect((await api.send("POST", MAPS, map("xa"))).code).toBe(422);
  });

  test("refuses what it cannot decide, unless it says otherwise", async () => {
    await using api = await TestApi.start();
    const validations = [{ expression: "object.data.none == 'x'" }];
    await validate(api, { spec: { validations } });
    const refused = await api.send("POST", MAPS, map("a", { x: "1" }));
    await api.send("DELETE", `${GROUP}/validatingadmissionpolicies/p`);
    await validate(api, { name: "q", spec: { failurePolicy: "Ignore", validations } });

    expect(messageOf(refused)).toContain(
      "denied request: expression 'object.data.none == 'x'' resulted in error: no such key: none",
    );
    expect((await api.send("POST", MAPS, map("a", { x: "1" }))).code).toBe(201);
  });

  test("matches by namespace, by label and by exclusion, also of what was there before", async () => {
    await using api = await TestApi.start(["default", "other"]);
    await validate(api, {
      spec: {
        matchConstraints: {
          ...ON_MAPS,
          objectSelector: { matchLabels: { guarded: "yes" } },
          excludeResourceRules: [{ ...ON_MAPS.resourceRules[0], resourceNames: ["free"] }],
        },
        validations: [{ expression: "request.operation == 'CREATE'" }],
      },
      binding: {
        matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } },
      },
    });
    const guarded = { labels: { guarded: "yes" } };
    for (const name of ["a", "free"]) await put(api, MAPS, map(name, {}, guarded));
    await put(api, MAPS.replace("default", "other"), map("a", {}, guarded));
    await put(api, MAPS, map("plain"));

    const codes = [];
    for (const path of [
      `${MAPS}/a`,
      `${MAPS}/free`,
      `${MAPS.replace("default", "other")}/a`,
      `${MAPS}/plain`,
    ])
      codes.push((await api.send("PUT", path, map(path.split("/").at(-1) ?? "", { x: "1" }))).code);

    expect(codes).toEqual([422, 200, 200, 200]);
  });

  test("takes its parameters from objects, by name and by label", async () => {
    await using api = await TestApi.start(["default", "limits"]);
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "others", expression: "request.namespace != 'limits'" }],
      validations: [
        {
          expression: "object.data.size() <= int(params.data.max)",
          messageExpression: "'at most ' + params.data.max",
        },
      ],
    };
    await put(api, MAPS.replace("default", "limits"), map("few", { max: "1" }, { labels: { use: "limit" } }));
    await validate(api, {
      spec,
      binding: { paramRef: { namespace: "limits", name: "few", parameterNotFoundAction: "Deny" } },
    });
    await validate(api, {
      name: "q",
      spec,
      binding: {
        paramRef: {
          namespace: "limits",
          selector: { matchLabels: { use: "nothing" } },
          parameterNotFoundAction: "Allow",
        },
      },
    });

    expect((await api.send("POST", MAPS, map("a", { x: "1" }))).code).toBe(201);
    expect(messageOf(await api.send("POST", MAPS, map("b", { x: "1", y: "2" })))).toContain("at most 1");
    await api.send("DELETE", `${MAPS.replace("default", "limits")}/few`);
    expect(messageOf(await api.send("POST", MAPS, map("c", { x: "1" })))).toContain(
      "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    );
  });

  test("is asked about other versions of what it names", async () => {
    await using api = await TestApi.start();
    const rule = {
      apiGroups: ["autoscaling"],
      apiVersions: ["v2"],
      operations: ["CREATE"],
      resources: ["horizontalpodautoscalers"],
    };
    await validate(api, {
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [
          {
            expression:
              "object.spec.metrics[0].resource.target.averageUtilization < 50 && request.kind.version == 'v2' && request.requestKind.version == 'v1'",
          },
        ],
      },
    });
    const scaler = (percent: number): object => ({
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "a" },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        targetCPUUtilizationPercentage: percent,
      },
    });
    const path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";

    expect((await api.send("POST", path, scaler(60))).code).toBe(422);
    expect(messageOf(await api.send("POST", path, scaler(40)))).toBe("");
  });

  test("never refuses the repair of a policy", async () => {
    await using api = await TestApi.start();
    const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
    await validate(api, {
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false" }] },
    });

    expect((await api.send("POST", MAPS, map("a"))).code).toBe(422);
    expect((await api.send("DELETE", `${GROUP}/validatingadmissionpolicies/p`)).code).toBe(200);
    expect((await api.send("POST", MAPS, map("a"))).code).toBe(201);
  });

  test("never applies to access reviews, which must always be answered", async () => {
    await using api = await TestApi.start();
    const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];
    const spec = {
      matchConstraints: { resourceRules: everything },
      validations: [{ expression: "false" }],
    };
    await validate(api, { spec });

    const reply = await api.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    });

    expect(reply.code).toBe(201);
  });

  test("that would take too long refuses instead", async () => {
    await using api = await TestApi.start();
    const data = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, "v"]));
    const expression = "object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != '')))";
    await validate(api, { spec: { validations: Array.from({ length: 30 }, () => ({ expression })) } });

    expect(messageOf(await api.send("POST", MAPS, map("a", data)))).toMatch(
      /running out of cost budget|actual cost limit exceeded/,
    );
  });
});

describe("who writes a policy", () => {
  async function allow(api: TestApi, rules: readonly object[]): Promise<void> {
    const path = "/apis/rbac.authorization.k8s.io/v1";
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const metadata = { name: "alice" };
    await put(api, `${path}/clusterroles`, { apiVersion, kind: "ClusterRole", metadata, rules });
    await put(api, `${path}/clusterrolebindings`, {
      apiVersion,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "alice" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
    });
  }

  const WRITES = { apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["create"] };
  const READS = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };

  test.each([
    [[WRITES], 422],
    [[WRITES, READS], 201],
  ])("must be able to read its parameters: %j", async (rules, code) => {
    await using api = await TestApi.start();
    await allow(api, rules);
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "p" },
      spec: {
        matchConstraints: ON_MAPS,
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [{ expression: "params == null" }],
      },
    };

    const reply = await api.send("POST", `${GROUP}/validatingadmissionpolicies`, policy, {
      headers: { "impersonate-user": "alice" },
    });

    expect(reply.code).toBe(code);
    expect(messageOf(reply)).toBe(
      code === 201
        ? ""
        : 'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user alice must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)',
    );
  });
});

describe("a policy is refused when it is written", () => {
  test.each([
    [
      "Validating",
      { validations: [{ expression: "object.x = 1" }] },
      'spec.validations[0].expression: Invalid value: "object.x = 1": compilation failed: ERROR: <input>:1:10: Syntax error',
    ],
    [
      "Validating",
      { validations: [{ expression: "object.spec.replicas" }] },
      'spec.validations[0].expression: Invalid value: "object.spec.replicas": must evaluate to bool but got dyn',
    ],
    [
      "Validating",
      { validations: [{ expression: "true", messageExpression: "1" }] },
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
    ],
    [
      "Validating",
      { validations: [{ expression: "params.x == 1" }] },
      "undeclared reference to 'params' (in container '')",
    ],
    ["Validating", { validations: [{ expression: "variables.none" }] }, "undefined field 'none'"],
    [
      "Validating",
      { auditAnnotations: [{ key: "k", valueExpression: "1" }] },
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type]',
    ],
    [
      "Mutating",
      {
        reinvocationPolicy: "Never",
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "{'a': 1}" } }],
      },
      "spec.mutations[0].applyConfiguration.expression: Invalid value: \"{'a': 1}\": must evaluate to Object but got map(string, int)",
    ],
  ])("%s %j", async (kind, spec, message) => {
    await using api = await TestApi.start();

    const reply = await api.send("POST", `${GROUP}/${kind.toLowerCase()}admissionpolicies`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicy`,
      metadata: { name: "p" },
      spec: { matchConstraints: ON_MAPS, ...spec },
    });

    expect(reply.code).toBe(422);
    expect(messageOf(reply)).toContain(message);
  });
});

describe("every way to write passes policies", () => {
  const ALL = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };

  /** Refuses what a request of this operation would do to this (sub)resource, and says so. */
  async function refuse(api: TestApi, subresource: string, operation: string): Promise<void> {
    const isMeant = `(has(request.subResource) ? request.subResource : '') == '${subresource}' && request.operation == '${operation}'`;
    await validate(api, {
      spec: {
        matchConstraints: { resourceRules: [ALL] },
        matchConditions: [{ name: "meant", expression: isMeant }],
        validations: [
          { expression: "false", messageExpression: "request.kind.kind + ' ' + request.resource.resource" },
        ],
      },
    });
  }

  test.each([
    { below: "scale", operation: "UPDATE", method: "PATCH", body: { spec: { replicas: 9 } } },
    { below: "status", operation: "UPDATE", method: "PATCH", body: { status: { replicas: 9 } } },
    { below: "", operation: "UPDATE", method: "PATCH", body: { metadata: { labels: { a: "b" } } } },
    { below: "", operation: "DELETE", method: "DELETE", body: undefined },
  ])("$method $below", async ({ below, operation, method, body }) => {
    await using api = await TestApi.start();
    await put(api, DEPLOYMENTS, deployment("web"));
    await refuse(api, below, operation);
    const path = below === "" ? `${DEPLOYMENTS}/web` : `${DEPLOYMENTS}/web/${below}`;

    const reply = await api.send(method, path, body, { type: "application/merge-patch+json" });

    const kind = below === "scale" ? "Scale" : "Deployment";
    expect(messageOf(reply)).toContain(`denied request: ${kind} deployments`);
    expect((await api.send("GET", `${DEPLOYMENTS}/web`)).body["spec"]?.["replicas"]).toBe(3);
  });

  test("connecting to a pod, with what is asked of it", async () => {
    await using api = await TestApi.start();
    await put(api, "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a" },
      spec: { containers: [{ name: "main", image: "web:1" }] },
    });
    await validate(api, {
      spec: {
        matchConstraints: { resourceRules: [{ ...ALL, operations: ["CONNECT"], resources: ["pods/exec"] }] },
        validations: [
          { expression: "object.kind == 'PodExecOptions' && object.command != ['sh']", message: "no" },
        ],
      },
    });

    const shell = await api.send("POST", "/api/v1/namespaces/default/pods/a/exec?command=sh");
    const list = await api.send("POST", "/api/v1/namespaces/default/pods/a/exec?command=ls");

    expect(messageOf(shell)).toContain("denied request: no");
    expect(messageOf(list)).not.toContain("denied");
  });

  test("deletecollection, object by object", async () => {
    await using api = await TestApi.start();
    await put(api, DEPLOYMENTS, deployment("web"));
    await refuse(api, "", "DELETE");

    const reply = await api.send("DELETE", DEPLOYMENTS);

    expect(messageOf(reply)).toContain("denied request: Deployment deployments");
    expect((await api.send("GET", `${DEPLOYMENTS}/web`)).code).toBe(200);
  });

  test("apply", async () => {
    await using api = await TestApi.start();
    await refuse(api, "", "CREATE");

    const reply = await api.send("PATCH", `${MAPS}/a?fieldManager=me`, map("a"), {
      type: "application/apply-patch+yaml",
    });

    expect(messageOf(reply)).toContain("denied request: ConfigMap configmaps");
  });
});
