/** RBAC with the real kubectl: rights, error texts, and the default roles. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import type { Kubectl } from "./kubectl/kubectl.ts";
import { Session } from "./kubectl/session.ts";

const LOOPS = ["serviceaccount-controller", "clusterrole-aggregation-controller"];

describePeer("kubectl", "kubectl under roles", (path) => {
  let session: Session;
  beforeAll(async () => {
    session = await Session.start(path, { loops: LOOPS, nodes: 0 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  /** Repeats a command until it prints this. */
  async function eventually(kubectl: Kubectl, expected: string, ...args: readonly string[]): Promise<void> {
    await expect.poll(() => kubectl.run(...args).then(({ stdout }) => stdout.trim()), POLL).toBe(expected);
  }

  describe.concurrent("a user", () => {
    test("who may only read pods reads them, and nothing else", async () => {
      const kubectl = session.namespace();
      const user = `reader-${kubectl.namespace}`;
      const before = await kubectl.run("get", "pods", "--as", user);
      await kubectl.ok("create", "role", "reader", "--verb=get,list,watch", "--resource=pods");
      await kubectl.ok("create", "rolebinding", "reader", "--role=reader", `--user=${user}`);
      const after = await kubectl.run("get", "pods", "--as", user);
      const others = await kubectl.run("get", "secrets", "--as", user);
      const elsewhere = await kubectl.run("get", "pods", "-A", "--as", user);

      expect(before.stderr).toContain(
        `User "${user}" cannot list resource "pods" in API group "" in the namespace "${kubectl.namespace}"`,
      );
      expect(after.code).toBe(0);
      expect(others.stderr).toContain(`User "${user}" cannot list resource "secrets"`);
      expect(elsewhere.stderr).toContain("at the cluster scope");
    });

    test("asks what they may do", async () => {
      const kubectl = session.namespace();
      const user = `asker-${kubectl.namespace}`;
      await kubectl.ok("create", "rolebinding", "viewer", "--clusterrole=edit", `--user=${user}`);
      const can = async (...args: readonly string[]): Promise<string> =>
        (await kubectl.run("auth", "can-i", ...args, "--as", user)).stdout.trim();

      await eventually(kubectl, "yes", "auth", "can-i", "create", "deployments.apps", "--as", user);
      expect(await can("create", "pods/exec")).toBe("yes");
      expect(await can("create", "rolebindings.rbac.authorization.k8s.io")).toBe("no");
      expect(await can("get", "pods", "-n", "kube-system")).toBe("no");
      expect(await can("get", "/version")).toBe("yes");
      expect(await can("get", "/metrics")).toBe("no");
    });

    test("lists what they may do", async () => {
      const kubectl = session.namespace();
      const user = `lister-${kubectl.namespace}`;
      await kubectl.ok(
        "create",
        "role",
        "one",
        "--verb=get",
        "--resource=configmaps",
        "--resource-name=mine",
      );
      await kubectl.ok("create", "rolebinding", "one", "--role=one", `--user=${user}`);

      const list = await kubectl.ok("auth", "can-i", "--list", "--as", user);

      expect(list).toMatch(/configmaps +\[\] +\[mine\] +\[get\]/);
      expect(list).toMatch(/selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]/);
      expect(list).toMatch(/\[\/version\] +\[\] +\[get\]/);
    });

    test("of a service account is known by its name", async () => {
      const kubectl = session.namespace();
      const account = `system:serviceaccount:${kubectl.namespace}:robot`;
      await kubectl.ok(
        "create",
        "rolebinding",
        "r",
        "--clusterrole=view",
        `--serviceaccount=${kubectl.namespace}:robot`,
      );

      await eventually(kubectl, "yes", "auth", "can-i", "list", "services", "--as", account);
      const secrets = await kubectl.run("auth", "can-i", "list", "secrets", "--as", account);
      expect(secrets.stdout.trim()).toBe("no");
    });

    test("cannot give what they do not have", async () => {
      const kubectl = session.namespace();
      const user = `giver-${kubectl.namespace}`;
      await kubectl.ok("create", "rolebinding", "giver", "--clusterrole=admin", `--user=${user}`);
      await eventually(kubectl, "yes", "auth", "can-i", "create", "roles", "--as", user);

      const more = await kubectl.run(
        "create",
        "role",
        "more",
        "--verb=get",
        "--resource=nodes",
        "--as",
        user,
      );
      const bind = await kubectl.run(
        "create",
        "rolebinding",
        "b",
        "--clusterrole=cluster-admin",
        `--user=${user}`,
        "--as",
        user,
      );
      const fine = await kubectl.run(
        "create",
        "rolebinding",
        "c",
        "--clusterrole=edit",
        "--user=x",
        "--as",
        user,
      );

      expect(more.stderr).toContain("is attempting to grant RBAC permissions not currently held:");
      expect(more.stderr).toContain('{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}');
      expect(bind.stderr).toContain('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
      expect(fine.code).toBe(0);
    });
  });

  describe("default roles", () => {
    test("come back when they are deleted", async () => {
      const kubectl = session.namespace();
      await kubectl.ok("delete", "clusterrole", "system:node-proxier");
      await kubectl.ok("delete", "clusterrolebinding", "system:node-proxier");

      await eventually(
        kubectl,
        "ClusterRole/system:node-proxier",
        "get",
        "clusterrolebinding",
        "system:node-proxier",
        "-o=jsonpath={.roleRef.kind}/{.roleRef.name}",
      );
      await eventually(
        kubectl,
        "system:node-proxier",
        "get",
        "clusterrole",
        "system:node-proxier",
        "-o=jsonpath={.metadata.name}",
      );
    });

    test("stay as they are where their annotation says so, while others get their rules back", async () => {
      const kubectl = session.namespace();
      const rules = '{"rules":[{"apiGroups":["example.com"],"resources":["a"],"verbs":["get"]}]}';
      const resources = ["-o=jsonpath={.rules[*].resources[0]}"];
      await kubectl.ok(
        "annotate",
        "--overwrite",
        "clusterrole",
        "system:kube-dns",
        "rbac.authorization.kubernetes.io/autoupdate=false",
      );
      await kubectl.ok("patch", "clusterrole", "system:kube-dns", "--type=merge", "-p", rules);
      await kubectl.ok("patch", "clusterrole", "system:node-problem-detector", "--type=merge", "-p", rules);

      await eventually(
        kubectl,
        "a nodes nodes/status events",
        "get",
        "clusterrole",
        "system:node-problem-detector",
        ...resources,
      );
      expect(await kubectl.ok("get", "clusterrole", "system:kube-dns", ...resources)).toBe("a");
    });

    test("gather what others add to them by labels", async () => {
      const kubectl = session.namespace();
      const name = `widgets-${kubectl.namespace}`;
      await kubectl.ok("create", "clusterrole", name, "--verb=get", `--resource=pods/${name}`);
      await kubectl.ok("label", "clusterrole", name, "rbac.authorization.k8s.io/aggregate-to-view=true");

      await expect
        .poll(() => kubectl.ok("get", "clusterrole", "admin", "-o=jsonpath={.rules[*].resources}"), POLL)
        .toContain(`pods/${name}`);
    });
  });
});

const POLL = { timeout: 45_000, interval: 100 };
