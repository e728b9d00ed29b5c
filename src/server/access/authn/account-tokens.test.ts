import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { AuthenticationFixture, claimsOf, signToken, headerOf, otherKey } from "./fixture.ts";
import type { Seen } from "./fixture.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const PODS = "/api/v1/namespaces/default/pods";
const ROBOT = "system:serviceaccount:default:robot";

function uidOf(object: Seen): string {
  return (object["metadata"]?.["uid"] ?? "") as string;
}

async function startRobot(): Promise<{ server: AuthenticationFixture; token: string }> {
  const server = await AuthenticationFixture.start();
  await server.account("robot");
  return { server, token: await server.token("robot") };
}

async function createPod(server: AuthenticationFixture, name: string): Promise<Seen> {
  const spec = { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] };
  const { body } = await server.send("POST", PODS, { metadata: { name }, spec });
  return body;
}

describe("a token of a service account", () => {
  test("identifies its account, with groups and the token's ID", async () => {
    const { server, token } = await startRobot();

    const user = await server.whoIs({ token });

    expect(user).toMatchObject({
      username: ROBOT,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`JTI=${String(claimsOf(token)["jti"])}`] },
    });
  });

  test("is refused without a valid signature, for any algorithm in its header", async () => {
    const { server, token } = await startRobot();
    const claims = claimsOf(token);
    const { kid } = headerOf(token);
    const publicPem = server.keys.publicKey;
    const forged = {
      none: signToken({ alg: "none" }, claims, { type: "none" }),
      "none with a key": signToken({ alg: "none", kid }, claims, { type: "none" }),
      "a secret that is public": signToken({ alg: "HS256", kid }, claims, {
        type: "secret",
        secret: publicPem,
      }),
      "another key": signToken({ alg: "ES256", kid }, claims, { type: "key", key: otherKey() }),
      "another algorithm": signToken({ alg: "RS256", kid }, claims, {
        type: "key",
        key: createPrivateKey(server.keys.privateKey),
      }),
      "another key's name": signToken({ alg: "ES256", kid: "other" }, claims, {
        type: "key",
        key: createPrivateKey(server.keys.privateKey),
      }),
      "a key of its own": signToken(
        { alg: "ES256", jwk: createPublicKey(otherKey()).export({ format: "jwk" }) },
        claims,
        { type: "key", key: otherKey() },
      ),
      "what must be understood": signToken({ alg: "ES256", kid, crit: ["b64"], b64: false }, claims, {
        type: "key",
        key: createPrivateKey(server.keys.privateKey),
      }),
    };

    for (const [way, each] of Object.entries(forged)) {
      expect(await server.nameOf({ token: each }), way).toBe(401);
      expect(await server.review(each), way).not.toHaveProperty("authenticated");
    }
    expect(await server.nameOf({ token })).toBe(ROBOT);
  });

  test("is refused for another audience, which a review may request", async () => {
    const { server } = await startRobot();
    const token = await server.token("robot", { audiences: ["vault"] });

    expect(await server.nameOf({ token })).toBe(401);
    expect((await server.review(token))["error"]).toContain(
      'token audiences ["vault"] is invalid for the target audiences ["',
    );
    expect(await server.review(token, ["vault", "x"])).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
      user: { username: ROBOT },
    });
  });

  test("ends with its account, also if another account gets the same name", async () => {
    const { server, token } = await startRobot();

    await server.send("DELETE", `${ACCOUNTS}/robot`);
    const gone = await server.nameOf({ token });
    await server.account("robot");

    expect(gone).toBe(401);
    expect(await server.nameOf({ token })).toBe(401);
    expect((await server.review(token))["error"]).toMatch(/service account UID .* does not match claim/);
  });

  test("ends with the pod that it is bound to, and names the pod's node", async () => {
    const { server } = await startRobot();
    const pod = await createPod(server, "a");
    const token = await server.token("robot", {
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "a" },
    });

    const user = await server.whoIs({ token });
    await server.send("DELETE", `${PODS}/a?gracePeriodSeconds=0`);

    expect(user).toMatchObject({
      extra: {
        "authentication.kubernetes.io/pod-name": ["a"],
        "authentication.kubernetes.io/pod-uid": [uidOf(pod)],
      },
    });
    expect(await server.nameOf({ token })).toBe(401);
    await createPod(server, "a");
    expect(await server.nameOf({ token })).toBe(401);
  });

  test.each([
    ["Secret", "/api/v1/namespaces/default/secrets"],
    ["Node", "/api/v1/nodes"],
  ])("ends with the %s that it is bound to", async (kind, path) => {
    const { server } = await startRobot();
    await server.send("POST", path, { metadata: { name: "it" } });
    const token = await server.token("robot", { boundObjectRef: { apiVersion: "v1", kind, name: "it" } });

    const before = await server.nameOf({ token });
    await server.send("DELETE", `${path}/it`);

    expect([before, await server.nameOf({ token })]).toEqual([ROBOT, 401]);
  });

  test("is accepted until a minute after its expiry, and never before nbf", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const run = async <T>(work: Promise<T>): Promise<T> => {
      await loop.settle();
      return work;
    };
    const server = await run(AuthenticationFixture.start({}, loop));
    await run(server.account("robot"));
    const token = await run(server.token("robot", { expirationSeconds: 600 }));

    await loop.advance(659_000);
    const late = await run(server.nameOf({ token }));
    await loop.advance(3000);

    expect(late).toBe(ROBOT);
    expect(await run(server.nameOf({ token }))).toBe(401);
    expect((await run(server.review(token)))["error"]).toContain("service account token has expired");
    expect(await run(server.nameOf({ token: await run(server.token("robot")) }))).toBe(ROBOT);
  });

  test("of an account that is being deleted is accepted for another minute", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const run = async <T>(work: Promise<T>): Promise<T> => {
      await loop.settle();
      return work;
    };
    const server = await run(AuthenticationFixture.start({}, loop));
    await run(server.send("POST", ACCOUNTS, { metadata: { name: "robot", finalizers: ["a.b/c"] } }));
    const token = await run(server.token("robot"));

    await run(server.send("DELETE", `${ACCOUNTS}/robot`));
    await loop.advance(59_000);
    const before = await run(server.nameOf({ token }));
    await loop.advance(3000);

    expect(before).toBe(ROBOT);
    expect(await run(server.nameOf({ token }))).toBe(401);
  });

  test("of a pod's volume lives for a year with its pod, and contains its renewal time", async () => {
    const { server } = await startRobot();
    await createPod(server, "a");
    const bound = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "a" }, expirationSeconds: 3607 };

    const claims = claimsOf(await server.token("robot", bound));

    const issuedAt = Number(claims["iat"]);
    expect(claims["exp"]).toBe(issuedAt + 365 * 24 * 3600);
    expect(claims["kubernetes.io"]).toMatchObject({ warnafter: issuedAt + 3607 });
  });

  test("lives no longer than the server's maximum", async () => {
    const server = await AuthenticationFixture.start({ tokens: { maxSeconds: 1200 } });
    await server.account("robot");

    const { body, headers } = await server.send("POST", `${ACCOUNTS}/robot/token`, {
      spec: { expirationSeconds: 7200 },
    });

    expect(body["spec"]).toMatchObject({ expirationSeconds: 1200 });
    expect(headers.get("warning")).toContain(
      "requested expiration of 7200 seconds shortened to 1200 seconds",
    );
  });

  /** Members of `kubernetes.io`, one per row. */
  function merged(claims: JsonObject, odd: JsonObject): JsonObject {
    const [own, changed] = [claims["kubernetes.io"], odd["kubernetes.io"]];
    const isDeep = isJsonObject(own) && isJsonObject(changed);
    return { ...claims, ...odd, ...(isDeep && { "kubernetes.io": { ...own, ...changed } }) };
  }

  const ODD_CLAIMS: readonly (readonly [string, JsonObject])[] = [
    ["exp", { exp: "never" }],
    ["exp", { exp: "4102444800" }],
    ["exp", { exp: null }],
    ["exp", { exp: [1] }],
    ["exp", { exp: true }],
    ["nbf", { nbf: "now" }],
    ["iat", { iat: {} }],
    ["aud", { aud: 1 }],
    ["aud", { aud: null }],
    ["aud", { aud: ["https://kubernetes.default.svc.cluster.local", 1] }],
    ["sub", { sub: 1 }],
    ["jti", { jti: ["a"] }],
    ["kubernetes.io", { "kubernetes.io": [] }],
    ["kubernetes.io", { "kubernetes.io": { namespace: 1 } }],
    ["kubernetes.io", { "kubernetes.io": { pod: "a" } }],
    ["kubernetes.io", { "kubernetes.io": { secret: null } }],
    ["kubernetes.io", { "kubernetes.io": { node: { name: "n", uid: 1 } } }],
    ["kubernetes.io", { "kubernetes.io": { warnafter: "later" } }],
  ];

  test.each(ODD_CLAIMS)(
    "is refused if its claim %s has a wrong type, despite a valid signature: %j",
    async (name, odd) => {
      const { server, token } = await startRobot();
      const key = createPrivateKey(server.keys.privateKey);
      const claims = claimsOf(token);
      const changed = merged(claims, odd);
      const crafted = signToken(headerOf(token), changed, { type: "key", key });

      expect(await server.nameOf({ token: crafted })).toBe(401);
      expect((await server.review(crafted))["error"]).toContain(`claim "${name}" is malformed`);
      expect(await server.nameOf({ token: signToken(headerOf(token), claims, { type: "key", key }) })).toBe(
        ROBOT,
      );
    },
  );

  test("is refused without an expiry, or with an infinite one", async () => {
    const { server, token } = await startRobot();
    const key = createPrivateKey(server.keys.privateKey);
    const { exp: _exp, ...claims } = claimsOf(token);
    const endless = signToken(headerOf(token), claims, { type: "key", key });
    // JSON cannot express infinity, but JSON.parse reads 1e999 as infinity.
    const raw = JSON.stringify({ ...claims, exp: 0 }).replace('"exp":0', '"exp":1e999');
    const infinite = signToken(headerOf(token), raw, { type: "key", key });

    expect((await server.review(endless))["error"]).toContain("service account token has no expiration");
    expect((await server.review(infinite))["error"]).toContain('claim "exp" is malformed');
    expect(await server.nameOf({ token: endless })).toBe(401);
    expect(await server.nameOf({ token: infinite })).toBe(401);
  });

  test("without an expiry is accepted while its Secret contains it", async () => {
    const { server } = await startRobot();
    const { body } = await server.send("GET", `${ACCOUNTS}/robot`);
    const part = "kubernetes.io/serviceaccount/";
    const claims = {
      iss: "kubernetes/serviceaccount",
      sub: ROBOT,
      [`${part}namespace`]: "default",
      [`${part}secret.name`]: "robot-token",
      [`${part}service-account.name`]: "robot",
      [`${part}service-account.uid`]: uidOf(body),
    };
    const key = createPrivateKey(server.keys.privateKey);
    const token = signToken({ alg: "ES256" }, claims, { type: "key", key });
    const other = signToken({ alg: "ES256" }, { ...claims, more: 1 }, { type: "key", key });
    const secret = {
      metadata: { name: "robot-token", annotations: { "kubernetes.io/service-account.name": "robot" } },
      type: "kubernetes.io/service-account-token",
      data: { token: Buffer.from(token).toString("base64") },
    };

    const without = await server.nameOf({ token });
    await server.send("POST", "/api/v1/namespaces/default/secrets", secret);

    expect(without).toBe(401);
    expect(await server.nameOf({ token })).toBe(ROBOT);
    await expect
      .poll(() =>
        server.send("GET", "/api/v1/namespaces/default/secrets/robot-token").then(({ body }) => body),
      )
      .toMatchObject({
        metadata: {
          labels: {
            "kubernetes.io/legacy-token-last-used": expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) as unknown,
          },
        },
      });
    expect(await server.nameOf({ token: other })).toBe(401);
    await server.send("DELETE", "/api/v1/namespaces/default/secrets/robot-token");
    expect(await server.nameOf({ token })).toBe(401);
  });

  test("never appears in the log or in a response, valid or not", async () => {
    const { server, token } = await startRobot();
    const bad = `${token.slice(0, -6)}AAAAAA`;

    const replies = await Promise.all([
      server.ask({ method: "GET", target: "/api/v1/namespaces/default", from: { token } }),
      server.ask({ method: "GET", target: "/api/v1/namespaces/default", from: { token: bad } }),
      server.ask({ method: "GET", target: "/metrics", from: { token: bad } }),
      server.ask({ method: "POST", target: "/api/v1/pods", body: "no object", from: { token } }),
    ]);
    const { error } = await server.review(bad);
    const texts = [server.logged, JSON.stringify(error), ...replies.map(({ text }) => text)].join("\n");

    const [, claims = "", signature = ""] = token.split(".");
    expect(texts).not.toContain(claims);
    expect(texts).not.toContain(signature.slice(0, 20));
  });
});

describe("the issuer of tokens", () => {
  test("publishes its metadata and the keys that verify its tokens", async () => {
    const tokens = { issuers: ["https://issuer.example", "https://old.example"], audiences: ["api"] };
    const server = await AuthenticationFixture.start({ tokens });
    await server.account("robot");
    const token = await server.token("robot");

    const configuration = await server.send("GET", "/.well-known/openid-configuration");
    const keys = await server.send("GET", "/openid/v1/jwks");

    expect(configuration.headers.get("content-type")).toBe("application/json");
    expect(configuration.body).toEqual({
      issuer: "https://issuer.example",
      jwks_uri: "https://issuer.example/openid/v1/jwks",
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    });
    expect(keys.headers.get("content-type")).toBe("application/jwk-set+json");
    expect(keys.body["keys"]).toEqual([
      expect.objectContaining({
        kid: headerOf(token)["kid"],
        alg: "ES256",
        use: "sig",
        kty: "EC",
        crv: "P-256",
      }),
    ]);
    expect(keys.text).not.toContain('"d"');
    expect(claimsOf(token)).toMatchObject({ iss: "https://issuer.example", aud: ["api"] });
  });
});
