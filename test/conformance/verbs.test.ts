/** The verbs of `setpoint` print what kubectl prints, for the flags that they have. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";
import { VerbRunner, type Printed, type PrintedBoth } from "./verb-runner.ts";

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{ name: web, image: nginx, args: ["<a> & b", "yes", "0644"] }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { text: "line one\\nline two\\n", number: "12", empty: "", colon: "a: b" }
---
# a comment only
`;

describePeer("kubectl", "kubectl's verbs", (kubectl) => {
  const folder = new Folder();
  const work = join(folder.path, "work");
  let cluster: RunningCluster;
  let runner: VerbRunner;

  beforeAll(async () => {
    mkdirSync(work);
    writeFileSync(join(work, "web.yaml"), WEB);
    writeFileSync(
      join(work, "changed.yaml"),
      WEB.replace("replicas: 2", "replicas: 3").replace('"12"', '"13"'),
    );
    mkdirSync(join(work, "folder", "inner"), { recursive: true });
    writeFileSync(join(work, "folder", "a.yml"), configMap("a"));
    writeFileSync(
      join(work, "folder", "b.json"),
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [JSON.parse(configMap("b"))] }),
    );
    writeFileSync(join(work, "folder", "notes.txt"), "no manifest");
    writeFileSync(join(work, "folder", "inner", "c.yaml"), configMap("c"));
    writeFileSync(join(work, "broken.yaml"), "apiVersion: v1\nkind: [");
    cluster = await RunningCluster.start(folder, { loops: "all", nodes: 2 });
    runner = new VerbRunner({ kubectl, kubeconfig: cluster.kubeconfig, folder: work });
    for (const namespace of ["ours", "theirs"]) {
      await theirs(["create", "namespace", namespace]);
      await theirs(["create", "configmap", "one", "-n", namespace]);
    }
    await theirs(["apply", "--server-side", "-n", "ours", "-f", "web.yaml"]);
    await theirs(["rollout", "status", "-n", "ours", "deployment", "web"]);
  });

  afterAll(async () => {
    await cluster.stop();
    folder.remove();
  });

  const theirs = (args: readonly string[]): Promise<Printed> => runner.theirs(args);
  const ours = (args: readonly string[], stdin = ""): Promise<PrintedBoth> => runner.ours(args, { stdin });

  test.each([
    "get pods -n ours",
    "get pods -n ours -o wide",
    "get pods -n ours --no-headers",
    "get pods -n ours -l app=web --show-labels",
    "get pods -n ours -l app=none",
    "get pods -n ours --field-selector status.phase=Running",
    "get pods -A",
    "get po,deploy -n ours",
    "get all -n ours",
    "get deployments.apps web -n ours",
    "get deploy/web cm/settings -n ours",
    "get nodes",
    "get crd",
    "get pods -n ours -o name",
    "get deploy,cm -n ours -o name",
    "get deploy web -n ours -o yaml",
    "get deploy web -n ours -o json",
    "get cm settings -n ours -o yaml",
    "get deploy,cm -n ours -o yaml",
    "get pods -n ours -l app=none -o json",
    "get deploy nope -n ours",
    "get deploy web nope -n ours",
    "get deploy nope -n ours --ignore-not-found",
    "get unknowns",
    "get deploy,unknowns -n ours",
    "get unknown/web -n ours",
    "get pods -n nowhere",
    "get pods -n nowhere -o name",
    "get pods -n nowhere -o yaml",
    "get pods,cm -n nowhere",
    "get nodes -l none=none",
    "get deploy/nope -n ours -o name",
    "events -n nowhere",
    "events -A --for deployment/web",
    "events -n ours --for unknown/web",
    "scale deployment/nope -n ours --replicas=1",
    "scale cm/settings -n ours --replicas=1",
    "delete unknown/web -n ours",
    "delete pods -n ours -l app=none",
    "events -n ours --for deployment/web",
    "events -n ours --types=Warning",
    "wait deploy/web -n ours --for=condition=Available",
    "wait deploy/web -n ours --for=condition=Available=false --timeout=0s",
    "wait deploy/web -n ours --for=jsonpath={.status.readyReplicas}=2",
    "wait pods -n ours -l app=web --for=condition=Ready",
    "wait cm/settings -n ours --for=create",
    "logs deploy/web -n ours",
    "logs deploy/web -n ours --tail=1",
    "logs deployment/web -n ours -c web --since=1h",
    "logs nope -n ours",
    "logs deploy/web -n ours -c none",
    "logs deploy/web -n ours --previous",
  ])("setpoint %s", async (line) => {
    const args = line.split(" ");

    const [mine, other] = [await ours(args), await theirs(args)];

    expect(agesHidden(mine)).toEqual(agesHidden(other));
  });

  describe("write the same objects", () => {
    test.each([
      ["apply --server-side -f web.yaml"],
      ["apply --server-side -f web.yaml"],
      ["apply --server-side --dry-run=server -f changed.yaml"],
      ["diff --server-side --force-conflicts -f changed.yaml", "diff -f changed.yaml"],
      ["diff --server-side --force-conflicts -f web.yaml", "diff -f web.yaml"],
      ["apply --server-side -f folder"],
      ["apply --server-side -R -f folder -f changed.yaml --force-conflicts"],
      ["diff --server-side -R -f folder", "diff -R -f folder"],
      ["delete -f folder -f folder/inner"],
      ["scale deployment/web --replicas=1"],
      ["wait deploy/web --for=jsonpath={.status.replicas}=1"],
      ["delete cm settings"],
      ["delete cm settings"],
      ["delete cm settings --ignore-not-found"],
      ["delete -f web.yaml --ignore-not-found"],
      ["delete configmap one --grace-period=0 --force"],
      ["delete deployment --all --wait=false"],
    ])("%s", async (line, own = line) => {
      const [mine, other] = [
        await ours([...own.split(" "), "-n", "ours"]),
        await theirs([...line.split(" "), "-n", "theirs"]),
      ];

      expect(placesHidden(mine)).toEqual(placesHidden(other));
    });
  });

  test("apply reads standard input, and a kind in the same stream as its definition", async () => {
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: lamps.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Lamp, plural: lamps }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
---
apiVersion: example.com/v1
kind: Lamp
metadata: { name: hall }
`;

    expect(await ours(["apply", "-f", "-"], definition)).toMatchObject({
      code: 0,
      stdout:
        "customresourcedefinition.apiextensions.k8s.io/lamps.example.com serverside-applied\nlamp.example.com/hall serverside-applied\n",
    });
    expect(await ours(["get", "lamps", "-o", "name"])).toMatchObject({
      code: 0,
      stdout: "lamp.example.com/hall\n",
    });
  });

  test("get --at shows objects as they were", async () => {
    await ours(["apply", "-n", "ours", "-f", "web.yaml"]);
    const before = await ours(["get", "deploy", "web", "-n", "ours", "-o", "yaml"]);
    const revision = /resourceVersion: "(\d+)"/.exec(before.stdout)?.[1] ?? "";
    await ours(["delete", "deploy", "web", "-n", "ours"]);

    expect(await ours(["get", "deploy", "web", "-n", "ours", "-o", "yaml", "--at", revision])).toEqual(
      before,
    );
    expect(await ours(["get", "deploy", "-n", "ours", "-o", "name", "--at", revision])).toMatchObject({
      stdout: "deployment.apps/web\n",
    });
    expect(await ours(["get", "deploy", "web", "-n", "ours", "--watch", "--at", revision])).toMatchObject({
      code: 2,
    });
  });

  test("diff never shows the values of a Secret, wherever they are", async () => {
    const secret = (password: string) =>
      JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { password } });
    await runner.theirs(["apply", "-n", "ours", "-f", "-"], secret("hunter2"));

    const { code, stdout } = await ours(["diff", "-n", "ours", "-f", "-"], secret("hunter3"));

    expect(code).toBe(1);
    expect(stdout).toContain("+  password: '*** (after)'");
    for (const value of ["hunter2", "hunter3"])
      for (const text of [value, Buffer.from(value).toString("base64")]) expect(stdout).not.toContain(text);
  });

  test("a broken file among others changes nothing", async () => {
    const { code, stdout, stderr } = await ours(["apply", "-n", "ours", "-f", "folder", "-f", "broken.yaml"]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: \S*broken.yaml: /);
  });

  test("-f names a URL: says what to do", async () => {
    expect(await ours(["apply", "-f", "https://example.com/a.yaml"])).toMatchObject({
      code: 2,
      stderr: "error: -f takes no URLs; pipe it: curl -fsSL https://example.com/a.yaml | setpoint … -f -\n",
    });
  });

  test.each(["", "-o name", "-o yaml", "-o json"])(
    "get --watch %s shows changes as kubectl does",
    async (output) => {
      const namespace = `watched${output.replaceAll(/\W/g, "")}`;
      const options = output === "" ? [] : output.split(" ");
      await theirs(["create", "namespace", namespace]);
      await theirs(["create", "cm", "one", "-n", namespace, "--from-literal=k=v"]);
      await settled(namespace);
      const change = async (): Promise<void> => {
        await theirs(["create", "cm", "two", "-n", namespace]);
        await theirs(["delete", "cm", "one", "-n", namespace]);
        await theirs(["create", "cm", "last", "-n", namespace]);
      };
      const args = ["get", "cm", "-n", namespace, "-w", ...options];

      const both = await runner.follow(args, {
        act: change,
        isEnough: (text) => text.includes("last"),
      });

      expect(agesHidden({ code: 0, stdout: both.ours })).toEqual(
        agesHidden({ code: 0, stdout: both.theirs }),
      );
    },
  );

  test("events --watch shows new Events as kubectl does", async () => {
    await theirs(["create", "namespace", "eventful"]);
    const event = (name: string) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: "eventful" },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "eventful" },
        type: name === "third" ? "Warning" : "Normal",
        ...{ reason: "Tested", message: `the ${name}`, lastTimestamp: "2026-01-02T03:04:05Z" },
      });
    const record = (name: string) => runner.theirs(["create", "-f", "-"], event(name));
    await record("first");

    const both = await runner.follow(
      ["events", "-n", "eventful", "-w", "--for", "pod/p", "--types=Warning,normal"],
      {
        act: async () => {
          await record("second");
          await record("third");
        },
        isEnough: (text) => text.includes("the third"),
      },
    );

    expect(agesHidden({ code: 0, stdout: both.ours })).toEqual(agesHidden({ code: 0, stdout: both.theirs }));
  });

  describe("a user without permission", () => {
    test.each([
      "get pods -n ours",
      "get deploy web -n ours -o yaml",
      "get nodes",
      "delete cm settings -n ours",
      "apply --server-side -n ours -f web.yaml",
      "scale deployment/web -n ours --replicas=1",
      "events -n ours",
      "logs deploy/web -n ours",
      "wait pods -n ours --all --for=condition=Ready",
    ])("%s is refused with the server's reason", async (line) => {
      const args = [...line.split(" "), "--kubeconfig", await limitedKubeconfig()];
      const [mine, other] = [await ours(args), await runner.theirs(args)];

      expect(mine).toMatchObject({ code: 1, stdout: other.stdout });
      expect(other.code).toBe(1);
      const reason = mine.stderr.replace("error: ", "").split("\n")[0];
      expect(reason).toContain('is forbidden: User "system:serviceaccount:default:limited"');
      expect(other.stderr).toContain(reason);
    });
  });

  /** A kubeconfig of a user who may discover resources only. */
  async function limitedKubeconfig(): Promise<string> {
    await theirs(["create", "serviceaccount", "limited", "-n", "default"]);
    const { stdout: token } = await theirs(["create", "token", "limited", "-n", "default"]);
    const file = join(work, "limited.yaml");
    const admin = JSON.parse((await theirs(["config", "view", "--raw", "-o", "json"])).stdout) as object;
    writeFileSync(
      file,
      JSON.stringify({ ...admin, users: [{ name: "limited", user: { token: token.trim() } }] }).replaceAll(
        /"user":"[^"]*"/g,
        '"user":"limited"',
      ),
      { mode: 0o600 },
    );
    return file;
  }

  /** The cluster gives each namespace its own ConfigMap. */
  async function settled(namespace: string): Promise<void> {
    await theirs(["wait", "cm/kube-root-ca.crt", "-n", namespace, "--for=create"]);
  }

  test.each(["get pods -o jsonpath={.items}", "get pods --sort-by=.metadata.name", "events --chunk-size=1"])(
    "%s prints the line for kubectl",
    async (line) => {
      const { code, stderr } = await ours(line.split(" "));

      expect(code).toBe(2);
      expect(stderr).toContain(
        `with kubectl: kubectl ${line.replace("jsonpath={.items}", "'jsonpath={.items}'")}\n`,
      );
    },
  );

  test("another verb of kubectl says where to get kubectl, and what comes closest", async () => {
    const withoutPath = new VerbRunner({ kubectl, kubeconfig: cluster.kubeconfig, folder: work, path: "" });

    expect((await withoutPath.ours(["create", "deployment", "demo"])).stderr).toBe(
      'error: "create" is a verb of kubectl alone, which is not on PATH (https://kubernetes.io/docs/tasks/tools/); without it: setpoint apply -f FILE\n',
    );
  });

  test("another verb of kubectl prints the line to type", async () => {
    expect(await ours(["describe", "pod", "a b"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: "describe" is a verb of kubectl alone; type: kubectl describe pod 'a b'\n`,
    });
  });
});

function configMap(name: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { of: "folder" } });
}

/** Ages differ between two runs, and so do the widths of their columns. */
function agesHidden({ code, stdout }: Printed): Printed {
  const text = stdout.replaceAll(/\b\d+[smhd](?:\d+[smhd])?\b/g, "AGE").replaceAll(/ +/g, " ");
  return { code, stdout: text };
}

/** Names of namespaces and of temporary folders, times, and values that the server generates. */
function placesHidden({ code, stdout }: Printed): Printed {
  const text = stdout
    .replaceAll(/\b(?:ours|theirs)\b/g, "NAMESPACE")
    .replaceAll(/^diff .*\n/gm, "")
    .replaceAll(/^(---|\+\+\+) \S*\/((?:LIVE|MERGED)\S*?)\/(\S+).*$/gm, "$1 $3")
    .replaceAll(/^(---|\+\+\+) (?:LIVE|MERGED)\/(\S+)$/gm, "$1 $2")
    .replaceAll(/(?<=web-)[a-z0-9]+-[a-z0-9]{5}/g, "POD")
    .replaceAll(/(uid|resourceVersion|creationTimestamp): .*/g, "$1: VALUE");
  const lines = text.startsWith("pod ")
    ? text
        .split("\n")
        .toSorted((a, b) => (a < b ? -1 : 1))
        .join("\n")
    : text;
  return { code, stdout: lines };
}
