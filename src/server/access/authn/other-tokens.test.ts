import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AuthenticationFixture } from "./fixture.ts";
import { parseTokenFile } from "./token-file.ts";

const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const TOKEN = "abcdef.0123456789abcdef";

function encoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

const GOOD = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
};

interface Kept {
  readonly data: Readonly<Record<string, string>>;
  readonly type?: string;
}

async function nameWith({ data, type = "bootstrap.kubernetes.io/token" }: Kept): Promise<unknown> {
  const server = await AuthenticationFixture.start();
  await server.send("POST", SECRETS, {
    metadata: { name: "bootstrap-token-abcdef" },
    type,
    data: encoded(data),
  });
  return server.nameOf({ token: TOKEN });
}

describe("a bootstrap token", () => {
  test("yields a bootstrap user with the groups of its Secret", async () => {
    const server = await AuthenticationFixture.start();
    const data = encoded({
      ...GOOD,
      expiration: "2999-01-01T00:00:00Z",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    });
    const secret = {
      metadata: { name: "bootstrap-token-abcdef" },
      type: "bootstrap.kubernetes.io/token",
      data,
    };
    await server.send("POST", SECRETS, secret);

    const user = await server.whoIs({ token: TOKEN });
    const wrong = await server.nameOf({ token: "abcdef.0123456789abcdee" });
    const unknown = await server.nameOf({ token: "bbbbbb.0123456789abcdef" });
    await server.send("DELETE", `${SECRETS}/bootstrap-token-abcdef`);

    expect(user).toMatchObject({
      username: "system:bootstrap:abcdef",
      groups: [
        "system:bootstrappers",
        "system:bootstrappers:kubeadm:default-node-token",
        "system:authenticated",
      ],
    });
    expect([wrong, unknown, await server.nameOf({ token: TOKEN })]).toEqual([401, 401, 401]);
  });

  test.each([
    ["with another secret", { data: { ...GOOD, "token-secret": "0123456789abcdee" } }],
    ["with another ID", { data: { ...GOOD, "token-id": "abcdee" } }],
    ["without the usage authentication", { data: { ...GOOD, "usage-bootstrap-authentication": "false" } }],
    ["that has expired", { data: { ...GOOD, expiration: "2020-01-01T00:00:00Z" } }],
    ["with a malformed expiration", { data: { ...GOOD, expiration: "tomorrow" } }],
    [
      "with a group outside system:bootstrappers",
      { data: { ...GOOD, "auth-extra-groups": "system:masters" } },
    ],
    ["in another kind of Secret", { data: GOOD, type: "Opaque" }],
  ])("%s is refused", async (_, kept) => {
    expect(await nameWith(kept)).toBe(401);
    expect(await nameWith({ data: GOOD })).toBe("system:bootstrap:abcdef");
  });
});

describe("a token of a file", () => {
  const staticTokens = parseTokenFile(
    ['secret-1,alice,u1,"dev,ops"', "# nobody", "", 'secret-2,"bob ""b""",u2', ""].join("\n"),
    "tokens.csv",
  );

  test("yields the user of its line", async () => {
    const server = await AuthenticationFixture.start({ staticTokens });

    expect(await server.whoIs({ token: "secret-1" })).toMatchObject({
      username: "alice",
      uid: "u1",
      groups: ["dev", "ops", "system:authenticated"],
    });
    expect(await server.nameOf({ token: "secret-2" })).toBe('bob "b"');
    expect(await server.nameOf({ token: "secret-" })).toBe(401);
    expect(await server.review("secret-1")).toMatchObject({ authenticated: true });
    expect(await server.review("secret-1", ["elsewhere"])).not.toHaveProperty("authenticated");
  });

  test("is accepted as a WebSocket subprotocol beside another one", async () => {
    const server = await AuthenticationFixture.start({ staticTokens });
    const named = (token: string): string =>
      `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;
    const socket = (protocols: string): Promise<unknown> =>
      server.nameOf({ headers: { upgrade: "websocket", "sec-websocket-protocol": protocols } });

    expect(await socket(`v5.channel.k8s.io, ${named("secret-1")}`)).toBe("alice");
    expect(await socket(`v5.channel.k8s.io, ${named("wrong")}`)).toBe(401);
    expect(await socket(named("secret-1"))).toBe(401);
    expect(await socket(`a, ${named("secret-1")}, ${named("secret-1")}`)).toBe(401);
    expect(await server.nameOf({ headers: { "sec-websocket-protocol": `a, ${named("secret-1")}` } })).toBe(
      403,
    );
  });

  test.each([
    ["only-a-token", "line 1: must be"],
    ["hush,,u", "line 1: the user is empty"],
    ["hush,a,1\nhush,b,2", "line 2: duplicate token"],
    ['hush,a,1,"x', "line 1: must be"],
  ])("is refused by line number, without the line's content: %j", (text, message) => {
    const read = (): unknown => parseTokenFile(text, "tokens.csv");

    expect(read).toThrow(message);
    expect(read).not.toThrow("hush");
  });
});

test("secrets are compared in constant time only", () => {
  const source = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");

  expect(source("./secret-equality.ts")).toContain("timingSafeEqual(");
  expect(source("./token-file.ts")).toContain("timingSafeEqual(");
  expect(source("./bootstrap-tokens.ts")).toMatch(/isSameSecret\(textOf\(found, "token-secret"\), secret\)/);
  expect(source("./secret-tokens.ts")).toContain("isSameSecret(held, token)");
});
