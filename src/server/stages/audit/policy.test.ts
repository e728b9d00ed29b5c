import { describe, expect, test } from "vitest";
import { parsePolicy } from "./policy-file.ts";
import { policyDecider } from "./policy.ts";
import type { AuditedRequest } from "./policy.ts";

const ALICE = { name: "alice", uid: "", groups: ["developers", "system:authenticated"], extra: {} };

function asked(change: Partial<AuditedRequest> = {}): AuditedRequest {
  const pod = { group: "", resource: "pods", subresource: "", namespace: "a", name: "web" };
  return { user: ALICE, verb: "get", path: undefined, ...pod, ...change };
}

const PATH = { path: "/healthz/etcd", resource: "", namespace: "", name: "" };

function policy(rules: string): Buffer {
  return Buffer.from(`{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [${rules}]}`);
}

function levelFor(rule: string, request: AuditedRequest): string {
  return policyDecider(parsePolicy(policy(`{level: Metadata, ${rule}}`)))(request).level;
}

describe("a rule", () => {
  test.each<readonly [string, AuditedRequest]>([
    ["users: [bob, alice]", asked()],
    ["userGroups: [developers]", asked()],
    ["verbs: [get, list]", asked()],
    ["namespaces: [a]", asked()],
    ["namespaces: ['']", asked({ namespace: "", resource: "nodes" })],
    ["resources: [{group: ''}]", asked()],
    ["resources: [{resources: [pods]}]", asked()],
    ["resources: [{resources: ['*']}]", asked({ subresource: "log" })],
    ["resources: [{resources: [pods/log]}]", asked({ subresource: "log" })],
    ["resources: [{resources: ['pods/*']}]", asked({ subresource: "log" })],
    ["resources: [{resources: ['pods/*']}]", asked()],
    ["resources: [{resources: ['*/log']}]", asked({ subresource: "log" })],
    ["resources: [{resources: [pods], resourceNames: [web]}]", asked()],
    ["resources: [{group: apps}, {group: ''}]", asked()],
    ["nonResourceURLs: ['/healthz*']", asked(PATH)],
    ["nonResourceURLs: [/version, /healthz/etcd]", asked(PATH)],
    ["nonResourceURLs: ['*']", asked(PATH)],
    ["omitStages: []", asked({ user: undefined })],
  ])("of %s matches", (rule, request) => {
    expect(levelFor(rule, request)).toBe("Metadata");
  });

  test.each<readonly [string, AuditedRequest]>([
    ["users: [bob]", asked()],
    ["users: [alice]", asked({ user: undefined })],
    ["userGroups: [admins]", asked()],
    ["userGroups: [developers]", asked({ user: undefined })],
    ["verbs: [list]", asked()],
    ["namespaces: [b]", asked()],
    ["namespaces: [a]", asked(PATH)],
    ["resources: [{group: apps}]", asked()],
    ["resources: [{resources: [pods]}]", asked({ subresource: "log" })],
    ["resources: [{resources: [pods/log]}]", asked()],
    ["resources: [{resources: ['*/log']}]", asked()],
    ["resources: [{resources: [pods], resourceNames: [db]}]", asked()],
    ["resources: [{group: ''}]", asked(PATH)],
    ["nonResourceURLs: [/healthz]", asked(PATH)],
    ["nonResourceURLs: ['*']", asked()],
    ["users: [alice], verbs: [list]", asked()],
  ])("of %s does not match", (rule, request) => {
    expect(levelFor(rule, request)).toBe("None");
  });
});

describe("a policy", () => {
  test("applies the first rule that matches", () => {
    const decide = policyDecider(
      parsePolicy(
        policy("{level: None, verbs: [watch]}, {level: Request, users: [alice]}, {level: Metadata}"),
      ),
    );

    expect(decide(asked({ verb: "watch" })).level).toBe("None");
    expect(decide(asked()).level).toBe("Request");
    expect(decide(asked({ user: undefined })).level).toBe("Metadata");
  });

  test("omits the stages of policy and rule; omitManagedFields of the rule overrides that of the policy", () => {
    const text = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], omitManagedFields: true, rules: [
      {level: Request, verbs: [get], omitStages: [ResponseStarted], omitManagedFields: false}, {level: Request}]}`;
    const decide = policyDecider(parsePolicy(Buffer.from(text)));

    expect(decide(asked())).toEqual({
      level: "Request",
      omitStages: new Set(["RequestReceived", "ResponseStarted"]),
      omitManagedFields: false,
    });
    expect(decide(asked({ verb: "list" })).omitManagedFields).toBe(true);
  });

  test.each([
    ["{level: Everything}", "rules[0].level: expected one of None, Metadata, Request, RequestResponse"],
    ["{level: None, user: [a]}", 'rules[0]: unknown field "user"'],
    ["{level: None, users: a}", "rules[0].users: expected a list"],
    ["{level: None, omitStages: [Later]}", "rules[0].omitStages: expected some of"],
    [
      "{level: None, namespaces: [a], nonResourceURLs: [/a]}",
      "rules[0]: rules cannot apply to both regular resources and non-resource URLs",
    ],
    ["{level: None, nonResourceURLs: [a]}", 'expected "*" or a path that begins with "/", found "a"'],
    ["{level: None, nonResourceURLs: ['/a*b']}", '"*" is allowed only at the end'],
    [
      "{level: None, resources: [{resourceNames: [a]}]}",
      "using resourceNames requires at least one resource",
    ],
    ["{level: None, resources: [{group: apps/v1}]}", "expected the name of a group, without a version"],
    ["", "rules: expected at least one"],
  ])("with %s is refused", (rules, message) => {
    expect(() => parsePolicy(policy(rules))).toThrow(message);
  });

  test("of another kind is refused", () => {
    expect(() => parsePolicy(Buffer.from("{apiVersion: v1, kind: Policy}"))).toThrow(
      "expected a Policy of audit.k8s.io/v1",
    );
  });
});
