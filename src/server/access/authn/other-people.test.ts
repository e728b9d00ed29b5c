import { describe, expect, test } from "vitest";
import type { PeerIdentity } from "../../request/http.ts";
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
  test("are accepted on a connection with its certificate", async () => {
    const server = await AuthenticationFixture.start();

    expect(await server.whoIs({ peer: PROXY, headers: REMOTE })).toEqual({
      username: "alice",
      uid: "u1",
      // One header is one group, whatever characters it contains.
      groups: ["dev, ops", "system:authenticated"],
      extra: { "example.com/team": ["z"] },
    });
  });

  test("are ignored from any other client", async () => {
    const server = await AuthenticationFixture.start();
    const bob: PeerIdentity = { user: "bob", groups: [] };
    const impostor: PeerIdentity = { user: "front-proxy-client", groups: [] };
    const stranger: PeerIdentity = { ...PROXY, user: "another-proxy" };

    expect(await server.nameOf({ peer: bob, headers: REMOTE })).toBe("bob");
    expect(await server.nameOf({ peer: impostor, headers: REMOTE })).toBe("front-proxy-client");
    expect(await server.nameOf({ headers: REMOTE })).toBe(403);
    expect(await server.nameOf({ peer: stranger, headers: REMOTE })).toBe(401);
  });

  test("are required: a proxy itself is no user, not even anonymous", async () => {
    const server = await AuthenticationFixture.start();

    expect(await server.nameOf({ peer: PROXY })).toBe(401);
    expect(await server.nameOf({ peer: PROXY, headers: { "x-remote-user": "" } })).toBe(401);
  });
});

describe("an impersonating client", () => {
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

  test("is that user, with the group system:authenticated", async () => {
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

  test("gets the groups of an impersonated service account", async () => {
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
    // A user who was allowed by the legacy verb before gets the legacy verb's refusal.
    await server.whoIs(as({ "impersonate-user": "alice" }));
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
    expect(await refusal({ "impersonate-group": "dev" })).toBe(400);
  });

  describe("in a constrained mode", () => {
    const NODE = "system:node:n1";
    const ROBOT = "system:serviceaccount:default:robot";
    const on = (mode: string): object => ({
      apiGroups: ["authentication.k8s.io"],
      resources: ["selfsubjectreviews"],
      verbs: [`impersonate-on:${mode}:create`],
    });
    const be = (mode: string, ...resources: readonly string[]): object => ({
      apiGroups: ["authentication.k8s.io"],
      resources,
      verbs: [`impersonate:${mode}`],
    });
    const messageOf = async (server: AuthenticationFixture, from: Sender): Promise<unknown> => {
      const target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const { code, body } = await server.ask({ method: "POST", target, body: {}, from });
      return code === 403 ? body["message"] : code;
    };

    test.each([
      { mode: "user-info", resource: "users", name: "alice", groups: [] },
      {
        mode: "serviceaccount",
        resource: "serviceaccounts",
        name: ROBOT,
        groups: ["system:serviceaccounts", "system:serviceaccounts:default"],
      },
      { mode: "arbitrary-node", resource: "nodes", name: NODE, groups: ["system:nodes"] },
    ])("uses $mode for a user of that kind", async ({ mode, resource, name, groups }) => {
      const server = await withRules(on(mode), be(mode, resource));

      expect(await server.whoIs(as({ "impersonate-user": name }))).toMatchObject({
        username: name,
        groups: [...groups, "system:authenticated"],
      });
    });

    test("may use only the verbs that are permitted for impersonation", async () => {
      const server = await withRules(on("user-info"), be("user-info", "users"));
      const list = { method: "GET", target: "/api/v1/pods" };
      const from = as({ "impersonate-user": "alice" });

      const { body } = await server.ask({ ...list, from });

      expect(body["message"]).toBe(
        'pods is forbidden: User "carol" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
      );
    });

    test("needs a permission for each part of it", async () => {
      const server = await withRules(on("user-info"), be("user-info", "users"));
      const alice = { "impersonate-user": "alice" };
      const refusal = (headers: Readonly<Record<string, string>>): Promise<unknown> =>
        messageOf(server, as({ ...alice, ...headers }));

      expect(await refusal({ "impersonate-group": "dev" })).toBe(
        'groups.authentication.k8s.io "dev" is forbidden: User "carol" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope',
      );
      expect(await refusal({ "impersonate-uid": "7" })).toContain(
        'cannot impersonate:user-info resource "uids"',
      );
      expect(await refusal({ "impersonate-extra-example.com%2fteam": "z" })).toContain(
        'cannot impersonate:user-info resource "userextras/example.com/team"',
      );
    });

    test("never joins system:masters, and sets only extras with a domain prefix", async () => {
      const server = await withRules(on("user-info"), be("user-info", "*"));
      const alice = { "impersonate-user": "alice" };

      expect(await messageOf(server, as({ ...alice, "impersonate-group": "system:masters" }))).toContain(
        ": impersonating the system:masters group is not allowed",
      );
      expect(await messageOf(server, as({ ...alice, "impersonate-group": "" }))).toContain(
        ": impersonating the empty string group is not allowed",
      );
      expect(await messageOf(server, as({ ...alice, "impersonate-extra-scopes": "all" }))).toContain(
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path',
      );
      expect(await messageOf(server, as({ ...alice, "impersonate-extra-example.com%2fteam": "z" }))).toBe(
        201,
      );
    });

    test("may name only the user of a node or a service account", async () => {
      const server = await withRules(on("user-info"), be("user-info", "*"), on("arbitrary-node"));
      const headers = { "impersonate-user": NODE, "impersonate-group": "dev" };

      expect(await messageOf(server, as(headers))).toContain('cannot impersonate resource "users"');
      expect(await messageOf(server, as({ "impersonate-user": NODE }))).toContain(
        'nodes.authentication.k8s.io "n1" is forbidden: User "carol" cannot impersonate:arbitrary-node resource "nodes"',
      );
    });

    test("may impersonate the node that it runs on", async () => {
      const server = await AuthenticationFixture.start();
      await server.send("POST", "/api/v1/nodes", { metadata: { name: "n1" } });
      await server.account("robot");
      const spec = { serviceAccountName: "robot", nodeName: "n1", containers: [{ name: "c", image: "i" }] };
      await server.send("POST", "/api/v1/namespaces/default/pods", { metadata: { name: "p" }, spec });
      const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "p" };
      const token = await server.token("robot", { boundObjectRef });
      const rules = [on("associated-node"), be("associated-node", "nodes")];
      await server.allow("own", rules, [{ kind: "ServiceAccount", namespace: "default", name: "robot" }]);
      const from = (node: string): Sender => ({
        token,
        headers: { "impersonate-user": `system:node:${node}` },
      });

      expect(await server.whoIs(from("n1"))).toMatchObject({
        username: NODE,
        groups: ["system:nodes", "system:authenticated"],
      });
      expect(await messageOf(server, from("n2"))).toContain(
        `User "${ROBOT}" cannot impersonate-on:arbitrary-node:create resource "selfsubjectreviews"`,
      );
    });
  });

  test("has exactly the permissions of the impersonated user", async () => {
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

describe("a client without credentials", () => {
  const NOBODY: Sender = {};

  test("is anonymous, and has the permissions that roles grant", async () => {
    const server = await AuthenticationFixture.start();
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["/version", "/livez"], verbs: ["get"] }], [anybody]);

    expect((await server.ask({ method: "GET", target: "/version", from: NOBODY })).code).toBe(200);
    expect(
      (await server.ask({ method: "GET", target: "/api/v1/namespaces", from: NOBODY })).body["message"],
    ).toBe(
      'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    );
  });

  test.each([
    ["off", { enabled: false, paths: [] }, [401, 401]],
    ["for some paths only", { enabled: true, paths: ["/version"] }, [200, 401]],
  ])("is refused where anonymous access is %s", async (_, anonymous, codes) => {
    const server = await AuthenticationFixture.start({ anonymous });
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["*"], verbs: ["get"] }], [anybody]);

    const replies = [
      await server.ask({ method: "GET", target: "/version?verbose", from: NOBODY }),
      await server.ask({ method: "GET", target: "/livez", from: NOBODY }),
    ];

    expect(replies.map(({ code }) => code)).toEqual(codes);
  });

  test("is distinct from a client with an untrusted certificate, which needs a token", async () => {
    const staticTokens = parseTokenFile("hush,alice,u1", "tokens.csv");
    const server = await AuthenticationFixture.start({ staticTokens });
    const peer: PeerIdentity = { user: "", groups: [], role: "stranger" };

    expect(await server.nameOf({ peer })).toBe(401);
    expect(await server.nameOf({ peer, token: "hush" })).toBe("alice");
  });

  test("is distinct from a client with a wrong credential", async () => {
    const server = await AuthenticationFixture.start();
    const anybody = { kind: "Group", name: "system:unauthenticated" };
    await server.allow("public", [{ nonResourceURLs: ["*"], verbs: ["get"] }], [anybody]);

    const wrong = await server.ask({ method: "GET", target: "/livez", from: { token: "nonsense" } });

    expect(wrong.code).toBe(401);
    expect(wrong.body).toMatchObject({ message: "Unauthorized", reason: "Unauthorized" });
  });
});
