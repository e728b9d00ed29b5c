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

  test("another verb of kubectl prints the line to type", async () => {
    expect(await ours(["describe", "pod", "a b"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: "describe" is a verb of kubectl alone; type: kubectl describe pod 'a b'\n`,
    });
  });
});

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
