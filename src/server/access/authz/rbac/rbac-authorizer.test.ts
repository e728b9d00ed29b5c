import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { AccessFixture } from "../fixture.ts";
import { asked, openAccessFixture, user } from "../fixture.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { RoleIndex } from "./role-index.ts";

const READ_PODS = { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] };
const BOB = user("bob", "dev", "system:authenticated");

function binding(role: string, ...subjects: readonly string[]): object {
  const [kind, name] = role.split("/");
  return {
    kind: "RoleBinding",
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
    subjects: subjects.map((subject) => {
      const [type, who, namespace] = subject.split("/");
      return { kind: type, name: who, ...(namespace !== undefined && { namespace }) };
    }),
  };
}

function everywhere(role: string, ...subjects: readonly string[]): object {
  return { ...binding(role, ...subjects), kind: "ClusterRoleBinding" };
}

function open(): { readonly fixture: AccessFixture; readonly rbac: RbacAuthorizer } {
  const fixture = openAccessFixture();
  return { fixture, rbac: new RbacAuthorizer(new RoleIndex(fixture.store)) };
}

describe("roles allow", () => {
  test("the readable roles, despite unreadable ones", async () => {
    const { fixture, rbac } = open();
    const damaged = async (path: string): Promise<void> => {
      const value = Buffer.from("k8s:enc:aesgcm:v1:lost:0123");
      await fixture.store.write({ changes: [{ type: "put", key: `/registry/${path}`, value }] });
    };
    await fixture.put("clusterroles/reader", { kind: "ClusterRole", ...READ_PODS });
    await fixture.put("clusterrolebindings/a", everywhere("ClusterRole/lost", "User/bob"));
    await fixture.put("clusterrolebindings/c", everywhere("ClusterRole/reader", "User/bob"));
    await damaged("clusterrolebindings/b");
    await damaged("clusterroles/lost");

    expect(rbac.decide(asked(BOB, "get")).outcome).toBe("allowed");
    await fixture.remove("clusterrolebindings/b");
    await fixture.remove("clusterrolebindings/c");
    expect(rbac.decide(asked(BOB, "get")).outcome).toBe("no opinion");
  });

  test("the grants of a binding, from its creation to its deletion", async () => {
    const { fixture, rbac } = open();
    const question = asked(BOB, "get", { namespace: "default" });
    await fixture.put("roles/default/reader", { kind: "Role", ...READ_PODS });

    expect(rbac.decide(question).outcome).toBe("no opinion");
    await fixture.put("rolebindings/default/b", binding("Role/reader", "User/bob"));
    expect(rbac.decide(question)).toEqual({
      outcome: "allowed",
      reason: 'RBAC: allowed by RoleBinding "b/default" of Role "reader" to User "bob"',
    });
    await fixture.put("rolebindings/default/b", binding("Role/reader", "User/alice"));
    expect(rbac.decide(question).outcome).toBe("no opinion");
    await fixture.put("rolebindings/default/b", binding("Role/reader", "Group/dev"));
    expect(rbac.decide(question).outcome).toBe("allowed");
    await fixture.put("roles/default/reader", { kind: "Role", rules: [] });
    expect(rbac.decide(question).outcome).toBe("no opinion");
    await fixture.put("roles/default/reader", { kind: "Role", ...READ_PODS });
    await fixture.remove("rolebindings/default/b");
    expect(rbac.decide(question).outcome).toBe("no opinion");
  });

  test("only the binding's namespace, also for a ClusterRole", async () => {
    const { fixture, rbac } = open();
    await fixture.put("clusterroles/reader", { kind: "ClusterRole", ...READ_PODS });
    await fixture.put("rolebindings/a/b", binding("ClusterRole/reader", "User/bob"));

    expect(rbac.decide(asked(BOB, "get", { namespace: "a" })).outcome).toBe("allowed");
    expect(rbac.decide(asked(BOB, "get", { namespace: "b" })).outcome).toBe("no opinion");
    expect(rbac.decide(asked(BOB, "get")).outcome).toBe("no opinion");
  });

  test("a service account of the binding's namespace if it names none, and no user of that name", async () => {
    const { fixture, rbac } = open();
    await fixture.put("clusterroles/reader", { kind: "ClusterRole", ...READ_PODS });
    await fixture.put("rolebindings/a/b", binding("ClusterRole/reader", "ServiceAccount/robot"));
    await fixture.put("clusterrolebindings/c", everywhere("ClusterRole/reader", "ServiceAccount/robot/a"));
    await fixture.put("clusterrolebindings/d", everywhere("ClusterRole/reader", "ServiceAccount/stray"));

    const robot = user("system:serviceaccount:a:robot");
    expect(rbac.decide(asked(robot, "get", { namespace: "a" })).reason).toBe(
      'RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "reader" to ServiceAccount "robot/a"',
    );
    expect(rbac.decide(asked(user("robot"), "get", { namespace: "a" })).outcome).toBe("no opinion");
    expect(rbac.decide(asked(user("system:serviceaccount::stray"), "get")).outcome).toBe("no opinion");
  });

  test("only named objects by resourceNames, and no request without a name", async () => {
    const { fixture, rbac } = open();
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["*"], resourceNames: ["web"] }];
    await fixture.put("clusterroles/one", { kind: "ClusterRole", rules });
    await fixture.put("clusterrolebindings/c", everywhere("ClusterRole/one", "User/bob"));

    const outcome = (verb: string, name: string): string => rbac.decide(asked(BOB, verb, { name })).outcome;
    expect(outcome("get", "web")).toBe("allowed");
    expect(outcome("get", "db")).toBe("no opinion");
    expect(outcome("list", "")).toBe("no opinion");
    expect(outcome("list", "web")).toBe("allowed");
  });

  test("the grants of other roles although one role is missing, and report it", async () => {
    const { fixture, rbac } = open();
    await fixture.put("clusterrolebindings/c", everywhere("ClusterRole/gone", "User/bob"));
    const question = asked(BOB, "get");

    expect(rbac.decide(question)).toEqual({
      outcome: "no opinion",
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    });
    await fixture.put("clusterroles/reader", { kind: "ClusterRole", ...READ_PODS });
    await fixture.put("clusterrolebindings/d", everywhere("ClusterRole/reader", "User/bob"));
    expect(rbac.decide(question).outcome).toBe("allowed");
    expect(rbac.rulesFor(BOB, "default")).toMatchObject({ isIncomplete: true, rules: READ_PODS.rules });
  });

  test("any number of different paths, and cache few of them", async () => {
    const { fixture, rbac } = open();
    const rules = [{ verbs: ["get"], nonResourceURLs: ["/p/*"] }];
    await fixture.put("clusterroles/paths", { kind: "ClusterRole", rules });
    await fixture.put("clusterrolebindings/c", everywhere("ClusterRole/paths", "Group/dev"));

    const outcomes = new Set(
      Array.from({ length: 5000 }, (_, at) => rbac.decide(asked(BOB, "get", { path: `/p/${at}` })).outcome),
    );

    expect([...outcomes]).toEqual(["allowed"]);
  });
});

describe("the cache of questions", () => {
  const MIB = 1024 * 1024;

  function heapMib(): number {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    return process.memoryUsage().heapUsed / MIB;
  }

  test.each([
    ["long ones", (at: number) => asked(BOB, `${String(at)}${"v".repeat(MIB)}`)],
    ["long names", (at: number) => asked(user(`${String(at)}${"u".repeat(MIB)}`), "get")],
  ])("does not keep %s", (_name, question) => {
    const { rbac } = open();
    const before = heapMib();

    for (let at = 0; at < 60; at++) rbac.decide(question(at));

    expect(heapMib() - before).toBeLessThan(20);
    expect(rbac.decide(question(0)).outcome).toBe("no opinion");
  });

  test("has a bound for all users together", () => {
    const { rbac } = open();
    const ask = (at: number): unknown =>
      rbac.decide(asked(user(`u${String(at % 100)}`), Buffer.alloc(900, String(at)).toString())).outcome;
    const before = heapMib();

    for (let at = 0; at < 60_000; at++) ask(at);

    expect(heapMib() - before).toBeLessThan(40);
    expect(ask(0)).toBe("no opinion");
  });

  test("keeps the names of a rule once", async () => {
    const { fixture, rbac } = open();
    const resourceNames = Array.from({ length: 20_000 }, (_, at) => `name-${String(at)}`);
    const rule = { apiGroups: [""], resources: ["pods"], verbs: ["*"], resourceNames };
    await fixture.put("clusterroles/named", { kind: "ClusterRole", rules: [rule] });
    await fixture.put("clusterrolebindings/named", everywhere("ClusterRole/named", "User/bob"));
    const decide = (verb: string): unknown => rbac.decide(asked(BOB, verb, { name: "name-19999" })).outcome;
    const first = decide("get");
    const before = heapMib();

    for (let at = 0; at < 100; at++) decide(`verb${String(at)}`);

    expect(heapMib() - before).toBeLessThan(20);
    expect([first, decide("verb0")]).toEqual(["allowed", "allowed"]);
  });
});
