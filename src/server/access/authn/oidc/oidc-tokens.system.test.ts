import { describe, expect, test } from "vitest";
import { AuthenticationFixture, claimsOf, signToken, otherKey } from "../fixture.ts";
import type { JwtRules } from "./configuration.ts";
import { TestIssuer } from "./fixture.ts";
import { oidcRules } from "./flag-rules.ts";
import { readAuthenticationConfiguration } from "./read-configuration.ts";

/** Rules in the form of a configuration file. */
function rulesOf({ url, ca }: TestIssuer, more: object = {}, issuer: object = {}): readonly JwtRules[] {
  const file = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url, audiences: ["me"], certificateAuthority: ca, ...issuer },
        claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
        ...more,
      },
    ],
  };
  return readAuthenticationConfiguration(JSON.stringify(file), []).jwt;
}

describe("a token of another issuer", () => {
  test("yields the user that the claims name", async () => {
    await using issuer = await TestIssuer.start();
    const claimMappings = {
      username: { claim: "sub", prefix: "oidc:" },
      groups: { claim: "roles", prefix: "oidc:" },
      uid: { claim: "oid" },
      extra: [{ key: "example.com/tenant", valueExpression: "claims.tenant" }],
    };
    const server = await AuthenticationFixture.start({
      jwt: { current: rulesOf(issuer, { claimMappings }) },
    });

    const token = issuer.token({ roles: ["dev", "ops"], oid: "42", tenant: "acme" });

    const user = {
      username: "oidc:alice",
      uid: "42",
      groups: ["oidc:dev", "oidc:ops", "system:authenticated"],
      extra: { "example.com/tenant": ["acme"] },
    };
    expect(await server.whoIs({ token })).toEqual(user);
    expect(await server.whoIs({ token })).toEqual(user);
    expect(issuer.asked).toBe(1);
    expect(await server.review(token)).toMatchObject({ authenticated: true, user });
  });

  test("follows rules that change while the server runs", async () => {
    await using issuer = await TestIssuer.start();
    const jwt = { current: rulesOf(issuer) };
    const server = await AuthenticationFixture.start({ jwt });
    const token = issuer.token();

    const before = await server.nameOf({ token });
    jwt.current = rulesOf(issuer, { claimMappings: { username: { claim: "sub", prefix: "new:" } } });
    const after = await server.nameOf({ token });
    jwt.current = [];

    expect([before, after]).toEqual(["oidc:alice", "new:alice"]);
    expect(await server.nameOf({ token })).toBe(401);
  });

  test("keeps the keys of its issuer when other rules change", async () => {
    await using issuer = await TestIssuer.start();
    await using other = await TestIssuer.start();
    const jwt = { current: rulesOf(issuer) };
    const server = await AuthenticationFixture.start({ jwt });
    await server.nameOf({ token: issuer.token() });

    jwt.current = [...rulesOf(issuer), ...rulesOf(other)];

    expect(await server.nameOf({ token: issuer.token({ sub: "bob" }) })).toBe("oidc:bob");
    expect(issuer.asked).toBe(1);
  });

  test("is refused with a wrong signature, after its expiry, and for another audience", async () => {
    await using issuer = await TestIssuer.start();
    const server = await AuthenticationFixture.start({ jwt: { current: rulesOf(issuer) } });
    const good = issuer.token();
    const claims = claimsOf(good);
    const [publicKey] = issuer.publicKeys;
    const secret = publicKey?.export({ type: "spki", format: "pem" }).toString() ?? "";
    const kid = "first";
    const bad = {
      none: signToken({ alg: "none", kid }, claims, { type: "none" }),
      "a secret that is public": signToken({ alg: "HS256", kid }, claims, { type: "secret", secret }),
      "another key": signToken({ alg: "ES256", kid }, claims, { type: "key", key: otherKey() }),
      "a key at an address of its own": signToken(
        { alg: "ES256", kid, jku: "https://evil.example" },
        claims,
        {
          type: "key",
          key: otherKey(),
        },
      ),
      "another issuer": issuer.token({ iss: "https://evil.example" }),
      "another audience": issuer.token({ aud: ["you"] }),
      expired: issuer.token({ exp: 1_000_000 }),
      "without an end": issuer.token({ exp: undefined }),
      "with a text for its end": issuer.token({ exp: "32503680000" }),
      "with a text for its beginning": issuer.token({ nbf: "now" }),
      "with a text for when it was made": issuer.token({ iat: "now" }),
      "with an audience that is no text": issuer.token({ aud: ["me", 1] }),
      "not yet": issuer.token({ nbf: 32_503_680_000 }),
      "without a name": issuer.token({ sub: undefined }),
      "with an empty name": issuer.token({ sub: "" }),
    };

    for (const [way, token] of Object.entries(bad)) expect(await server.nameOf({ token }), way).toBe(401);
    expect(await server.nameOf({ token: good })).toBe("oidc:alice");
  });

  test("with an unknown key ID is refused, and the keys are fetched once", async () => {
    await using issuer = await TestIssuer.start();
    const server = await AuthenticationFixture.start({ jwt: { current: rulesOf(issuer) } });
    const made = Array.from({ length: 5 }, (_, n) => issuer.token({}, { kid: `made-up-${String(n)}` }));

    const names = await Promise.all(made.map((token) => server.nameOf({ token })));

    expect(names).toEqual([401, 401, 401, 401, 401]);
    expect(issuer.asked).toBe(1);
    expect(await server.nameOf({ token: issuer.token() })).toBe("oidc:alice");
  });

  test("is refused, without following redirects, if the issuer's metadata names another issuer", async () => {
    await using issuer = await TestIssuer.start();
    await using other = await TestIssuer.start();
    issuer.redirect = `${other.url}/.well-known/openid-configuration`;
    const redirected = await AuthenticationFixture.start({ jwt: { current: rulesOf(issuer) } });
    const first = await redirected.review(issuer.token());
    issuer.redirect = undefined;
    issuer.claimed = other.url;
    const lying = await AuthenticationFixture.start({ jwt: { current: rulesOf(issuer) } });
    const untrusted = await AuthenticationFixture.start({
      jwt: { current: rulesOf(issuer, {}, { certificateAuthority: other.ca }) },
    });

    expect(first["error"]).toContain("answers with 302");
    expect((await lying.review(issuer.token()))["error"]).toContain("metadata names the issuer");
    expect(await untrusted.review(issuer.token())).not.toHaveProperty("authenticated");
    expect(other.asked + issuer.asked).toBe(0);
  });

  test("must satisfy the CEL rules over its claims and over the mapped user", async () => {
    await using issuer = await TestIssuer.start();
    const jwt = rulesOf(issuer, {
      claimValidationRules: [
        { claim: "hd", requiredValue: "example.com" },
        { expression: "claims.exp - claims.iat <= 600", message: "lives too long" },
      ],
      claimMappings: {
        username: { expression: "'sso:' + claims.sub" },
        groups: { expression: "claims.?roles.orValue('').split(',')" },
      },
      userValidationRules: [
        {
          expression: "!user.groups.exists(group, group.startsWith('system:'))",
          message: "no system groups",
        },
      ],
    });
    const server = await AuthenticationFixture.start({ jwt: { current: jwt } });
    const hd = "example.com";
    const iat = Number(claimsOf(issuer.token())["iat"]);

    expect(await server.whoIs({ token: issuer.token({ hd, roles: "a,b" }) })).toMatchObject({
      username: "sso:alice",
      groups: ["a", "b", "system:authenticated"],
    });
    expect((await server.review(issuer.token({ hd: "evil.example" })))["error"]).toContain(
      "required claim hd",
    );
    expect((await server.review(issuer.token({ hd, exp: iat + 9999 })))["error"]).toContain("lives too long");
    expect((await server.review(issuer.token({ hd, roles: "system:masters" })))["error"]).toContain(
      "no system groups",
    );
  });

  test("by the flags prefixes the username with the issuer, and accepts only verified emails", async () => {
    await using issuer = await TestIssuer.start();
    const flags = { issuerUrl: issuer.url, clientId: "me", algorithms: ["ES256"] };
    const bySubject = await AuthenticationFixture.start({ jwt: { current: [oidcRules(flags, issuer.ca)] } });
    const byAddress = await AuthenticationFixture.start({
      jwt: { current: [oidcRules({ ...flags, usernameClaim: "email" }, issuer.ca)] },
    });
    const rsaOnly = await AuthenticationFixture.start({
      jwt: { current: [oidcRules({ issuerUrl: issuer.url, clientId: "me" }, issuer.ca)] },
    });
    const email = "a@b.c";

    expect(await bySubject.nameOf({ token: issuer.token() })).toBe(`${issuer.url}#alice`);
    expect(await byAddress.nameOf({ token: issuer.token({ email, email_verified: true }) })).toBe(email);
    expect(await byAddress.nameOf({ token: issuer.token({ email, email_verified: false }) })).toBe(401);
    expect(await rsaOnly.nameOf({ token: issuer.token() })).toBe(401);
  });
});

describe("a configuration", () => {
  const issuer = { url: "https://issuer.example", audiences: ["me"] };
  const claimMappings = { username: { claim: "sub", prefix: "" } };
  const read = (jwt: object, more: object = {}): unknown =>
    readAuthenticationConfiguration(
      JSON.stringify({
        apiVersion: "apiserver.config.k8s.io/v1",
        kind: "AuthenticationConfiguration",
        jwt: [jwt],
        ...more,
      }),
      ["https://own.example"],
    );

  test("may list the paths of anonymous requests", () => {
    const anonymous = { enabled: true, conditions: [{ path: "/livez" }] };

    expect(read({ issuer, claimMappings }, { anonymous })).toMatchObject({
      anonymous: { enabled: true, paths: ["/livez"] },
      jwt: [{ issuer: { discoveryUrl: "https://issuer.example/.well-known/openid-configuration" } }],
    });
  });

  test.each([
    [{ issuer: { ...issuer, url: "http://issuer.example" }, claimMappings }, "URL scheme must be https"],
    [
      { issuer: { ...issuer, url: "https://own.example" }, claimMappings },
      "must not overlap with disallowed",
    ],
    [{ issuer: { ...issuer, audiences: ["a", "b"] }, claimMappings }, "must be set to MatchAny"],
    [{ issuer: { ...issuer, audiences: [] }, claimMappings }, "jwt[0].issuer.audiences: Required value"],
    [{ issuer: { ...issuer, certificateAuthority: "x" }, claimMappings }, "does not contain any valid"],
    [{ issuer, claimMappings: { username: { claim: "sub" } } }, "prefix is required when claim is set"],
    [{ issuer, claimMappings: {} }, "jwt[0].claimMappings.username: Required value"],
    [{ issuer, claimMappings: { username: { expression: "claims.sub +" } } }, "compilation failed"],
    [
      { issuer, claimMappings: { username: { expression: "claims.email" } } },
      "claims.email_verified must be used",
    ],
    [
      { issuer, claimMappings, userValidationRules: [{ expression: "user.name == ''" }] },
      "compilation failed",
    ],
    [{ issuer, claimMappings, claimValidationRules: [{ expression: "'a'" }] }, "must evaluate to bool"],
    [
      { issuer, claimMappings: { ...claimMappings, extra: [{ key: "k8s.io/x", valueExpression: "''" }] } },
      "reserved for Kubernetes use",
    ],
    [{ issuer, claimMappings, other: 1 }, "jwt[0].other: Forbidden: unknown field"],
  ])("that is invalid is refused: %#", (jwt, message) => {
    expect(() => read(jwt)).toThrow(message);
  });
});
