import { describe, expect, test } from "vitest";
import { parseAuthentication } from "./authentication-options.ts";

function parsed(options: Readonly<Record<string, string>>): unknown {
  const path = (name: string): string | undefined =>
    options[name] === undefined ? undefined : `/etc/setpoint/${options[name]}`;
  return parseAuthentication({ operands: {}, rest: [], options }, path);
}

describe("parseAuthentication", () => {
  test("returns undefined without options", () => {
    expect(parsed({})).toBeUndefined();
  });

  test("reads lists, files and numbers", () => {
    expect(
      parsed({
        serviceAccountIssuer: "https://a, https://b",
        apiAudiences: "api",
        serviceAccountMaxTokenExpiration: "3600",
        tokenAuthFile: "tokens.csv",
        authenticationConfig: "auth.yaml",
        requestheaderAllowedNames: "proxy",
      }),
    ).toEqual({
      issuers: ["https://a", "https://b"],
      audiences: ["api"],
      maxTokenSeconds: 3600,
      tokenFile: "/etc/setpoint/tokens.csv",
      configFile: "/etc/setpoint/auth.yaml",
      frontProxyNames: ["proxy"],
    });
    expect(parsed({ anonymousAuth: "false" })).toEqual({ isAnonymousAllowed: false });
  });

  test("reads the token webhook", () => {
    const file = { authenticationTokenWebhookConfigFile: "w.conf" };

    expect(parsed(file)).toEqual({
      webhook: { file: "/etc/setpoint/w.conf", version: "v1beta1", ttlMs: 120_000 },
    });
    expect(
      parsed({
        ...file,
        authenticationTokenWebhookVersion: "v1",
        authenticationTokenWebhookCacheTtl: "10s",
      }),
    ).toEqual({ webhook: { file: "/etc/setpoint/w.conf", version: "v1", ttlMs: 10_000 } });
    expect(() => parsed({ ...file, authenticationTokenWebhookCacheTtl: "soon" })).toThrow(
      "--authentication-token-webhook-cache-ttl must be a duration",
    );
    expect(() => parsed({ authenticationTokenWebhookCacheTtl: "soon" })).toThrow(
      "--authentication-token-webhook-cache-ttl must be a duration",
    );
  });

  test("reads the OpenID Connect issuer", () => {
    const required = { oidcIssuerUrl: "https://a", oidcClientId: "me" };

    expect(parsed({ ...required, oidcRequiredClaim: "hd=x.y,team=a=b", oidcSigningAlgs: "ES256" })).toEqual({
      oidc: {
        issuerUrl: "https://a",
        clientId: "me",
        requiredClaims: { hd: "x.y", team: "a=b" },
        algorithms: ["ES256"],
      },
    });
  });

  test.each([
    [{ serviceAccountMaxTokenExpiration: "599" }, "--service-account-max-token-expiration must be"],
    [{ serviceAccountMaxTokenExpiration: "1h" }, "--service-account-max-token-expiration must be"],
    [{ oidcIssuerUrl: "https://a" }, "must be given together"],
    [
      { oidcIssuerUrl: "https://a", oidcClientId: "b", oidcRequiredClaim: "x" },
      "--oidc-required-claim must be",
    ],
    [
      { oidcIssuerUrl: "https://a", oidcClientId: "b", authenticationConfig: "c" },
      "cannot be given together",
    ],
  ])("that make no sense are refused: %#", (options, message) => {
    expect(() => parsed(options)).toThrow(message);
  });
});
