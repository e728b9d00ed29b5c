import { describe, expect, test } from "vitest";
import { readAuthorizationConfiguration } from "./read-configuration.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";

const WEBHOOK = `${HEAD}
- type: Webhook
  name: first
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    cacheUnauthorizedRequests: false
    connectionInfo: { type: KubeConfigFile, kubeConfigFile: ./kube.conf }
    matchConditions:
    - expression: request.user != 'system:admin'
- { type: Node, name: node }
- { type: RBAC, name: rbac }
`;

function problems(text: string): string {
  try {
    readAuthorizationConfiguration(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("an AuthorizationConfiguration", () => {
  test("lists the authorizers in order, with their settings", () => {
    expect(readAuthorizationConfiguration(WEBHOOK)).toEqual([
      {
        type: "Webhook",
        name: "first",
        version: "v1",
        timeoutMs: 3000,
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 0,
        onFailure: "denied",
        matchConditions: ["request.user != 'system:admin'"],
        kubeconfigFile: "./kube.conf",
      },
      { type: "Node" },
      { type: "RBAC" },
    ]);
  });

  test.each([
    [HEAD, "authorizers: Required value: at least one authorization mode must be defined"],
    [
      `${HEAD}- { type: RBAC, name: a }\n- { type: RBAC, name: b }`,
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    [
      `${HEAD}- { type: RBAC, name: a }\n- { type: Node, name: a }`,
      'authorizers[1].name: Duplicate value: "a"',
    ],
    [`${HEAD}- { type: Magic, name: a }`, 'authorizers[0].type: Unsupported value: "Magic"'],
    [`${HEAD}- { type: Webhook, name: a }`, "authorizers[0].webhook: Required value"],
    [WEBHOOK.replace("3s", "40s"), "must be less than or equal to 30s"],
    [WEBHOOK.replace("request.user !=", "request.nobody !="), "undefined field 'nobody'"],
    [
      WEBHOOK.replace("failurePolicy: Deny", "failurePolicy: Guess"),
      'failurePolicy: Unsupported value: "Guess"',
    ],
    [WEBHOOK.replace("failurePolicy", "failurePolicies"), "failurePolicies: Forbidden: unknown field"],
  ])("that is invalid is refused: %#", (text, problem) => {
    expect(problems(text)).toContain(problem);
  });
});
