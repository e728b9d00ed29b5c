import { describe, expect, test } from "vitest";
import { parseAuthorization } from "./authorization-options.ts";

type Options = Readonly<Record<string, string>>;

function parse(options: Options): unknown {
  return parseAuthorization({ operands: {}, rest: [], options }, (name) => options[name]);
}

describe("parseAuthorization", () => {
  test("returns undefined without options", () => {
    expect(parse({})).toBeUndefined();
  });

  test("reads the modes in order, and the webhook", () => {
    const given = {
      authorizationMode: "Node, RBAC,Webhook",
      authorizationWebhookConfigFile: "/w.conf",
      authorizationWebhookCacheUnauthorizedTtl: "1m",
    };

    expect(parse(given)).toEqual({
      modes: ["Node", "RBAC", "Webhook"],
      webhookFile: "/w.conf",
      webhookVersion: "v1beta1",
      authorizedTtlMs: 300_000,
      unauthorizedTtlMs: 60_000,
    });
    expect(parse({ authorizationConfig: "/a.yaml" })).toEqual({ configFile: "/a.yaml" });
  });

  test.each<[Options, string]>([
    [{ authorizationMode: "RBAC,Magic" }, 'found "RBAC,Magic"'],
    [{ authorizationMode: "RBAC,RBAC" }, "each once"],
    [{ authorizationMode: "Webhook" }, "must be given together"],
    [{ authorizationWebhookConfigFile: "/w.conf" }, "must be given together"],
    [
      { authorizationMode: "RBAC", authorizationConfig: "/a.yaml" },
      "--authorization-config can not be specified",
    ],
    [
      {
        authorizationMode: "Webhook",
        authorizationWebhookConfigFile: "/w",
        authorizationWebhookCacheAuthorizedTtl: "soon",
      },
      "--authorization-webhook-cache-authorized-ttl must be a duration",
    ],
  ])("that contradict themselves are refused: %#", (options, problem) => {
    expect(() => parse(options)).toThrow(problem);
  });
});
