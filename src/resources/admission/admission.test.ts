import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { mutatingAdmissionPolicyBinding } from "./mutating-admission-policy-binding.ts";
import { mutatingAdmissionPolicy } from "./mutating-admission-policy.ts";
import { mutatingWebhookConfiguration } from "./mutating-webhook-configuration.ts";
import { validatingAdmissionPolicyBinding } from "./validating-admission-policy-binding.ts";
import { validatingAdmissionPolicy } from "./validating-admission-policy.ts";
import { validatingWebhookConfiguration } from "./validating-webhook-configuration.ts";

const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

describe("an admission webhook", () => {
  const probe = new KindProbe(validatingWebhookConfiguration);
  const hook = {
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: "https://example.com/x" },
    rules: [rule],
  };

  test("gets policies, selectors and a timeout by default", () => {
    const mutating = new KindProbe(mutatingWebhookConfiguration);
    const expected = {
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      rules: [{ scope: "*" }],
    };

    expect(probe.created({ webhooks: [hook] })).toMatchObject({ webhooks: [expected] });
    expect(mutating.created({ webhooks: [hook] })).toMatchObject({
      webhooks: [{ ...expected, reinvocationPolicy: "Never" }],
    });
    expect(mutating.problems({ webhooks: [hook] })).toEqual([]);
  });

  test.each([
    [{}, []],
    [
      { name: "a.b" },
      [
        'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
      ],
    ],
    [
      { admissionReviewVersions: [] },
      ["webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
    ],
    [
      { admissionReviewVersions: ["v9"] },
      [
        'webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      { sideEffects: undefined },
      ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"],
    ],
    [
      { sideEffects: "Some" },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      { timeoutSeconds: 31 },
      ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
    ],
    [
      { clientConfig: {} },
      ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
    ],
    [
      { clientConfig: { url: "http://a" } },
      [
        `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      ],
    ],
    [{ clientConfig: { service: { name: "a", namespace: "b", path: "" } } }, []],
    [{ clientConfig: { service: { name: "a", namespace: "b", path: "/" } } }, []],
    [
      { clientConfig: { service: { name: "a", namespace: "b", path: "x" } } },
      [`webhooks[0].clientConfig.service.path: Invalid value: "x": must start with a '/'`, expect.anything()],
    ],
    [
      { rules: [{ ...rule, operations: ["*", "CREATE"] }] },
      [
        `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      ],
    ],
    [{ rules: [{ ...rule, apiGroups: [] }] }, ["webhooks[0].rules[0].apiGroups: Required value"]],
    [
      { matchConditions: [{ name: "a", expression: "" }] },
      ["webhooks[0].matchConditions[0].expression: Required value"],
    ],
  ])("has valid rules, conditions and a reachable client config: %#", (change, problems) => {
    expect(probe.problems({ webhooks: [{ ...hook, ...change }] })).toEqual(problems);
  });

  test("has a name that no other webhook of the configuration has", () => {
    expect(probe.problems({ webhooks: [hook, hook] })).toEqual([
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ]);
    expect(probe.cells({ webhooks: [hook, hook] })).toEqual(["it", 2, "2m5s"]);
  });
});

describe("an admission policy", () => {
  const probe = new KindProbe(validatingAdmissionPolicy);
  const matchConstraints = { resourceRules: [rule] };
  const spec = { matchConstraints, validations: [{ expression: "true" }] };

  test("fails closed by default", () => {
    expect(probe.created({ spec })).toMatchObject({
      spec: { failurePolicy: "Fail", matchConstraints: { matchPolicy: "Equivalent", namespaceSelector: {} } },
    });
  });

  test.each([
    [spec, []],
    [{ ...spec, matchConstraints: undefined }, ["spec.matchConstraints: Required value"]],
    [
      { matchConstraints },
      [
        "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
      ],
    ],
    [
      { ...spec, validations: [{ expression: " " }] },
      ["spec.validations[0].expression: Required value: expression is not specified"],
    ],
    [{ ...spec, paramKind: { kind: "ConfigMap" } }, ["spec.paramKind.apiVersion: Required value"]],
    [
      { ...spec, variables: [{ name: "a-b", expression: "1" }] },
      [expect.stringMatching(/^spec.variables\[0\].name: Invalid value: "a-b": a valid C identifier/)],
    ],
  ])("has valid constraints, variables and validations: %#", (it, problems) => {
    expect(probe.problems({ spec: it })).toEqual(problems);
  });

  test("may use the authorizer in validations, but not in message expressions", () => {
    const expression = "authorizer.path('/x').check('get').allowed()";
    const validations = [{ expression, messageExpression: `string(${expression})` }];

    expect(probe.problems({ spec: { matchConstraints, validations } })).toEqual([
      expect.stringContaining("undeclared reference to 'authorizer'"),
    ]);
    expect(probe.problems({ spec: { matchConstraints, validations: [{ expression }] } })).toEqual([]);
  });

  test("needs valid mutations when it mutates", () => {
    const mutating = new KindProbe(mutatingAdmissionPolicy);
    const base = { matchConstraints, reinvocationPolicy: "Never" };

    expect(
      mutating.problems({
        spec: {
          ...base,
          mutations: [
            { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/data'}]" } },
          ],
        },
      }),
    ).toEqual([]);
    expect(mutating.problems({ spec: { ...base, mutations: [{ patchType: "JSONPatch" }] } })).toEqual([
      "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
    ]);
    expect(mutating.cells({ spec: base })).toEqual(["it", 0, "<unset>", "2m5s"]);
  });

  test("has a binding with a policy, parameters and actions", () => {
    const binding = new KindProbe(validatingAdmissionPolicyBinding);

    expect(binding.problems({ spec: { policyName: "a", validationActions: ["Deny"] } })).toEqual([]);
    expect(binding.problems({})).toEqual([
      "spec.policyName: Required value",
      "spec.validationActions: Required value",
    ]);
    expect(binding.problems({ spec: { policyName: "a", validationActions: ["Deny", "Warn"] } })).toEqual([
      expect.stringMatching(/must not contain both Deny and Warn/),
    ]);
    expect(
      binding.problems({ spec: { policyName: "a", validationActions: ["Deny"], paramRef: {} } }),
    ).toEqual(["spec.paramRef: Required value: one of name or selector must be specified"]);
    expect(
      new KindProbe(mutatingAdmissionPolicyBinding).cells({
        spec: { policyName: "a", paramRef: { name: "p" } },
      }),
    ).toEqual(["it", "a", "*/p", "2m5s"]);
  });

  test.each([
    [{ name: "p" }, "*/p"],
    [{ name: "p", namespace: "n" }, "n/p"],
    [
      { selector: { matchLabels: { b: "2", a: "1" }, matchExpressions: [{ key: "k", operator: "Exists" }] } },
      "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:Exists,Values:[],},},}",
    ],
    [undefined, "<unset>"],
  ])("a binding with the parameter %j shows %s", (paramRef, text) => {
    const probe = new KindProbe(validatingAdmissionPolicyBinding);

    expect(probe.cells({ spec: { policyName: "a", paramRef } })[2]).toBe(text);
  });
});
