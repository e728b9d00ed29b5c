import { describe, expect, test } from "vitest";
import type { PeerIdentity } from "../http.ts";
import { AuthenticationFixture } from "./fixture.ts";
import type { Sender } from "./fixture.ts";
import { parseTokenFile } from "./token-file.ts";

const PROXY: PeerIdentity = { user: "front-proxy-client", groups: [], role: "front-proxy" };
const REMOTE = {
  "x-remote-user": "alice",
  "x-remote-uid": "u1",
  "x-remote-group": "dev, ops",
  "x-remote-extra-example.com%2fteam": "z",
};

describe("headers of a front proxy", () => {
  test("are believed when its certificate is", async () => {
    const server = await AuthenticationFixture.start();

    expect(await server.whoIs({ peer: PROXY, headers: REMOTE })).toEqual({
      username: "alice",
      uid: "u1",
      // One header is one group, whatever it holds.
      groups: ["dev, ops", "system:authenticated"],
      extra: { "example.com/team": ["z"] },
    });
  });

  test("mean nothing from anybody else", async () => {
    const server = await AuthenticationFixture.start();
    const bob: PeerIdentity = { user: "bob", groups: [] };
    const impostor: PeerIdentity = { user: "front-proxy-client", groups: [] };
    const stranger: PeerIdentity = { ...PROXY, user: "another-proxy" };

    expect(await server.nameOf({ peer: bob, headers: REMOTE })).toBe("bob");
    expect(await server.nameOf({ peer: impostor, headers: REMOTE })).toBe("front-proxy-client");
    expect(await server.nameOf({ headers: REMOTE })).toBe(403);
    expect(await server.nameOf({ peer: stranger, headers: REMOTE })).toBe(401);
  });

  test("are needed: a proxy is nobody itself, not even anonymous", async () => {
    const server = await AuthenticationFixture.start();

    expect(await server.nameOf({ peer: PROXY })).toBe(401);
    expect(await server.nameOf({ peer: PROXY, headers: { "x-remote-user": "" } })).toBe(401);
  });
});

describe("whoever acts as somebody else", () => {
  const CAROL: PeerIdentity = { user: "carol", groups: [] };
  const as = (headers: Readonly<Record<string, string>>): Sender => ({ peer: CAROL, headers });

  async function withRules(...rules: readonly object[]): Promise<AuthenticationFixture> {
    const server = await AuthenticationFixture.start();
    await server.allow("act-as", rules, [{ kind: "User", name: "carol" }]);
    return server;
  }
  const rule = (resource: string, group = ""): object => ({
    apiGroups: [group],
    resources: [resource],
    verbs: ["impersonate"],
  });

  test("is that user, with the group of everybody who is known", async () => {
    const server = await withRules(
      rule("users"),
      rule("groups"),
      rule("uids", "authentication.k8s.io"),
      rule("userextras/scopes", "authentication.k8s.io"),
    );

    expect(
      await server.whoIs(
        as({
          "impersonate-user": "alice",
          "impersonate-group": "dev",
          "impersonate-uid": "u1",
          "impersonate-extra-scopes": "view",
        }),
      ),
    ).toEqual({
      username: "alice",
      uid: "u1",
      groups: ["dev", "system:authenticated"],
      extra: { scopes: ["view"] },
    });
  });

  test("gets the groups of a service account with it", async () => {
    const server = await withRules(rule("serviceaccounts"));

    expect(
      await server.whoIs(as({ "impersonate-user": "system:serviceaccount:default:robot" })),
    ).toMatchObject({
      username: "system:serviceaccount:default:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
  });

  test("needs a permission for each part of it", async () => {
    const server = await withRules(rule("users"));
    const refusal = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const { code, body } = await server.ask({ method: "GET", target: "/version", from: as(headers) });
      return code === 403 ? body["message"] : code;
    };
    const alice = { "impersonate-user": "alice" };

    expect(await refusal({ ...alice, "impersonate-group": "system:masters" })).toBe(
      'groups "system:masters" is forbidden: User "carol" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    expect(await refusal({ ...alice, "impersonate-uid": "u1" })).toContain(
      'cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    );
    expect(await refusal({ ...alice, "impersonate-extra-scopes": "all" })).toContain(
      'cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io"',
    );
    expect(await refusal({ "impersonate-user": "system:serviceaccount:default:robot" })).toContain(
      'cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"',
    );
    expect(await refusal({ "impersonate-group": "dev" })).toBe(500);
  });

  test("may do what that user may, and nothing that they may not", async () => {
    const server = await withRules(rule("users"), { apiGroups: [""], resources: ["pods"], verbs: ["list"] });

    const own = await server.ask({ method: "GET", target: "/api/v1/pods", from: as({}) });
    const other = await server.ask({
      method: "GET",
      target: "/api/v1/pods",
      from: as({ "impersonate-user": "alice" }),
    });

    expect(own.code).toBe(200);
    expect(other.body["message"]).toContain('User "alice" cannot list resource "pods"');
  });
});

describe("somebody who says nothing", () => {
  const NOBODY: Sender = {};

  test("is anonymous, and may do what roles say", async () => {
    const server = await AuthenticationFixture.start();
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["/livez", "/version"], verbs: ["get"] }], [anybody]);

    expect((await server.ask({ method: "GET", target: "/livez", from: NOBODY })).code).toBe(200);
    expect(
      (await server.ask({ method: "GET", target: "/api/v1/namespaces", from: NOBODY })).body["message"],
    ).toBe(
      'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    );
  });

  test.each([
    ["off", { enabled: false, paths: [] }, [401, 401]],
    ["for some paths only", { enabled: true, paths: ["/livez"] }, [200, 401]],
  ])("is nobody where it is %s", async (_, anonymous, codes) => {
    const server = await AuthenticationFixture.start({ anonymous });
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["*"], verbs: ["get"] }], [anybody]);

    const replies = [
      await server.ask({ method: "GET", target: "/livez?verbose", from: NOBODY }),
      await server.ask({ method: "GET", target: "/version", from: NOBODY }),
    ];

    expect(replies.map(({ code }) => code)).toEqual(codes);
  });

  test("is not who shows a certificate that nobody vouches for, unless a token says who it is", async () => {
    const staticTokens = parseTokenFile("hush,alice,u1", "tokens.csv");
    const server = await AuthenticationFixture.start({ staticTokens });
    const peer: PeerIdentity = { user: "", groups: [], role: "stranger" };

    expect(await server.nameOf({ peer })).toBe(401);
    expect(await server.nameOf({ peer, token: "hush" })).toBe("alice");
  });

  test("is not who says something wrong", async () => {
    const server = await AuthenticationFixture.start();
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["*"], verbs: ["get"] }], [anybody]);

    const wrong = await server.ask({ method: "GET", target: "/livez", from: { token: "nonsense" } });

    expect(wrong.code).toBe(401);
    expect(wrong.body).toMatchObject({ message: "Unauthorized", reason: "Unauthorized" });
  });
});
