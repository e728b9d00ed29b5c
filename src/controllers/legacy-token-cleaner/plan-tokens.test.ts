import { describe, expect, test } from "vitest";
import type { Pod, Secret, ServiceAccount } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { runToEnd } from "../../base/loop/yielding-work.ts";
import { planTokens } from "./plan-tokens.ts";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const LAST_USED = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";

interface Case {
  readonly since?: string;
  readonly now?: number;
  readonly created?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly deletionTimestamp?: string;
  readonly secrets?: readonly object[];
  readonly uid?: string;
  readonly volumes?: readonly object[];
}

function actionOf(given: Case): string | undefined {
  const { since = "2024-01-01", labels = {}, secrets = [{ name: "t" }], uid = "u1", volumes = [] } = given;
  const secret = incomplete<Secret>({
    type: given.type ?? "kubernetes.io/service-account-token",
    metadata: {
      name: "t",
      namespace: "a",
      labels,
      creationTimestamp: given.created ?? "2024-01-01T00:00:00Z",
      ...(given.deletionTimestamp !== undefined && { deletionTimestamp: given.deletionTimestamp }),
      annotations: {
        "kubernetes.io/service-account.name": "robot",
        "kubernetes.io/service-account.uid": uid,
      },
    },
  });
  const account = { metadata: { name: "robot", uid: "u1" }, secrets } as ServiceAccount;
  const pod = incomplete<Pod>({ metadata: { name: "p", namespace: "a" }, spec: { containers: [], volumes } });
  const plan = planTokens({
    now: given.now ?? NOW,
    since,
    secrets: [secret],
    pods: [pod],
    findAccount: (namespace, name) => (`${namespace}/${name}` === "a/robot" ? account : undefined),
  });
  return runToEnd(plan)[0]?.action;
}

describe("an auto-generated token", () => {
  test.each<[string, Case]>([
    ["was never used", {}],
    ["was used more than a year ago", { labels: { [LAST_USED]: "2025-06-14" } }],
    ["has an unreadable invalid-since label", { labels: { [INVALID_SINCE]: "soon" } }],
    ["has an account without uid", { uid: "" }],
  ])("is invalidated when it %s", (_, given) => {
    expect(actionOf(given)).toBe("invalidate");
  });

  test("is deleted a year after it was invalidated", () => {
    expect(actionOf({ labels: { [INVALID_SINCE]: "2025-06-14" } })).toBe("delete");
    expect(actionOf({ labels: { [INVALID_SINCE]: "2025-06-15" } })).toBeUndefined();
  });

  test.each<[string, Case]>([
    ["was used within a year", { labels: { [LAST_USED]: "2025-06-15" } }],
    ["has an unreadable last-used label", { labels: { [LAST_USED]: "2025-02-30" } }],
    ["is younger than a year", { created: "2025-06-16T00:00:00Z" }],
    ["is being deleted", { deletionTimestamp: "2026-06-01T00:00:00Z" }],
    ["is not in its account's list", { secrets: [] }],
    ["belongs to an earlier account", { uid: "u0" }],
    ["is not a token", { type: "Opaque" }],
    ["is mounted by a pod", { volumes: [{ name: "v", secret: { secretName: "t" } }] }],
    ["was not recorded for a year and a day", { since: "2025-06-15" }],
    ["has no known start of records", { since: "" }],
  ])("stays when it %s", (_, given) => {
    expect(actionOf(given)).toBeUndefined();
  });
});
