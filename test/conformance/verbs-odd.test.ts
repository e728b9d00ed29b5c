/** The verbs of `setpoint` in odd cases: the same output, the same stream and the same exit code as kubectl. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";
import { VerbRunner, type PrintedBoth } from "./verb-runner.ts";

/** A kind whose short name is that of Services, and a pod of three containers. */
const OBJECTS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: services.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Service, plural: services, shortNames: [svc] }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
---
apiVersion: v1
kind: Pod
metadata: { name: several, labels: { app: several } }
spec:
  terminationGracePeriodSeconds: 0
  initContainers: [{ name: before, image: nginx }]
  containers: [{ name: one, image: nginx }, { name: two, image: nginx }]
---
apiVersion: v1
kind: Namespace
metadata: { name: strict, labels: { pod-security.kubernetes.io/warn: restricted } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: idle }
spec:
  replicas: 0
  selector: { matchLabels: { app: idle } }
  template:
    metadata: { labels: { app: idle } }
    spec: { containers: [{ name: idle, image: nginx }] }
`;

/** No node answers for it, so that a deletion stays as it was asked for. */
const PLAIN_POD =
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"plain"},"spec":{"nodeName":"absent","containers":[{"name":"a","image":"a"}]}}';

describePeer("kubectl", "kubectl's verbs, in odd cases", (kubectl) => {
  const folder = new Folder();
  const work = join(folder.path, "work");
  let cluster: RunningCluster;
  let runner: VerbRunner;

  beforeAll(async () => {
    mkdirSync(work);
    writeFileSync(join(work, "elsewhere.yaml"), configMapIn("nowhere"));
    writeFileSync(join(work, "here.yaml"), configMapIn("default"));
    writeFileSync(
      join(work, "unknown.yaml"),
      "apiVersion: example.com/v1\nkind: No\nmetadata: { name: a }\n",
    );
    cluster = await RunningCluster.start(folder, { loops: "all", nodes: 2 });
    runner = new VerbRunner({ kubectl, kubeconfig: cluster.kubeconfig, folder: work });
    await runner.theirs(["apply", "-f", "-"], OBJECTS);
    await runner.theirs(["wait", "pod/several", "--for=condition=Ready"]);
    // kubectl keeps what the server served before the new kind.
    rmSync(join(work, ".kube"), { recursive: true });
  });

  afterAll(async () => {
    await cluster.stop();
    folder.remove();
  });

  test.each([
    "get svc",
    "get pods,svc",
    "get svc/kubernetes -o name",
    "get pod/none svc/kubernetes",
    "get ns/default -A",
    "get ingresses,persistentvolumes",
    "get componentstatuses --no-headers",
    "get pod several -n nowhere",
    "scale deployments -l app=none --replicas=3",
    "wait pod/none --for=delete",
    "wait pods -l app=none --for=delete",
    "wait pods -l app=none --for=condition=Ready",
    "wait pod/several --for=condition=Ready --timeout=0",
    "wait pod/several -n nowhere --for=condition=Ready",
    "logs several",
    "logs several -c none",
    "logs -l app=none",
    "exec several -- ls",
    "exec several -n nowhere -- ls",
    "diff -f elsewhere.yaml",
  ])("setpoint %s", async (line) => {
    const args = line.split(" ");

    const [mine, other] = [await runner.ours(args), await runner.theirs(args)];

    expect(comparable(mine)).toEqual(comparable(other));
  });

  test.each(["diff -f unknown.yaml", "diff -f none.yaml"])(
    "%s fails with another code than for differences",
    async (line) => {
      const args = line.split(" ");

      const [mine, other] = [await runner.ours(args), await runner.theirs(args)];

      expect([mine.code, other.code]).toEqual([2, 2]);
    },
  );

  // kubectl prints the logs of several containers in any order.
  test.each(["logs several --all-containers", "logs -l app=several --all-containers"])(
    "setpoint %s prints the same lines",
    async (line) => {
      const args = line.split(" ");
      const sorted = ({ code, stdout }: PrintedBoth) => ({ code, lines: stdout.split("\n").toSorted() });

      expect(sorted(await runner.ours(args))).toEqual(sorted(await runner.theirs(args)));
    },
  );

  test("warnings of the server are printed", async () => {
    const args = ["apply", "--server-side", "-n", "strict", "-f", "-"];

    const mine = await runner.ours(args, { stdin: PLAIN_POD });

    await runner.theirs(["delete", "pod", "plain", "-n", "strict", "--force"]);
    expect(mine.stderr).toMatch(/^Warning: would violate PodSecurity "restricted:latest"/);
    expect(comparable(mine)).toEqual(comparable(await runner.theirs(args, PLAIN_POD)));
  });

  test.each([
    "get pods ",
    "get ",
    "delete pods ",
    "delete  --all",
    "scale deployments  --replicas=1",
    "logs ",
  ])('"%s" with an empty word is refused', async (line) => {
    expect(await runner.ours(line.split(" "))).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("is empty: is a variable unset?") as string,
    });
  });

  test.each(["delete pods several -A", "delete pods several -l app=several", "events --types=Strange"])(
    "%s is refused",
    async (line) => {
      expect(await runner.ours(line.split(" "))).toMatchObject({ code: 2, stdout: "" });
      expect(await runner.theirs(line.split(" "))).toMatchObject({ code: 1, stdout: "" });
    },
  );

  test.each([
    [["--grace-period=0"], 1],
    [["--grace-period=-1"], 30],
    [["--now"], 1],
  ])("delete %s leaves the pod to its node", async (options, seconds) => {
    await runner.theirs(["apply", "-f", "-"], PLAIN_POD);

    await runner.ours(["delete", "pod", "plain", "--wait=false", ...options]);

    const read = ["get", "pod", "plain", "-o", "jsonpath={.metadata.deletionGracePeriodSeconds}"];
    expect((await runner.theirs(read)).stdout).toBe(String(seconds));
    await runner.theirs(["delete", "pod", "plain", "--force", "--ignore-not-found"]);
  });

  test("delete --force does not wait for the node, and warns", async () => {
    await runner.theirs(["apply", "-f", "-"], PLAIN_POD);

    expect(await runner.ours(["delete", "pod", "plain", "--force"])).toEqual({
      code: 0,
      stdout: 'pod "plain" force deleted\n',
      stderr:
        "Warning: the objects are removed without their node's word: their processes may go on running\n",
    });
  });

  test.each([
    ["get namesp", ["namespaces"]],
    ["get pods seve", ["several"]],
    ["get pods several ", []],
    ["get pods,namesp", ["pods,namespaces"]],
    ["get services.example", ["services.example.com"]],
    ["delete ns/kube-s", ["ns/kube-system"]],
    ["get sa -n kube-system default", ["default"]],
    ["get sa -n kube-syst", ["kube-system"]],
    ["why namesp", ["namespaces/"]],
    ["logs seve", ["several"]],
    ["get pods --context setp", ["setpoint"]],
  ])("Tab after %s offers names of the cluster", async (line, candidates) => {
    const { stdout } = await runner.ours(["completion", "fish", "--", ...line.split(" ")]);

    expect(stdout.split("\n").slice(0, -1)).toEqual(candidates);
  });

  test("port-forward to port 0 is refused", async () => {
    expect(await runner.ours(["port-forward", "several", "0"])).toMatchObject({ code: 2, stdout: "" });
  });

  describe("a user who may read pods only", () => {
    test.each(["get pods,secrets,configmaps", "get all", "logs -l app=several -c one"])(
      "%s",
      async (line) => {
        const args = [...line.split(" "), "--kubeconfig", await limitedKubeconfig()];

        const [mine, other] = [await runner.ours(args), await runner.theirs(args)];

        expect(comparable(mine)).toEqual(comparable(other));
      },
    );
  });

  async function limitedKubeconfig(): Promise<string> {
    await runner.theirs(["create", "serviceaccount", "limited"]);
    await runner.theirs(["create", "role", "pods", "--verb=get,list", "--resource=pods"]);
    await runner.theirs(["create", "rolebinding", "pods", "--role=pods", "--serviceaccount=default:limited"]);
    const token = (await runner.theirs(["create", "token", "limited"])).stdout.trim();
    const file = join(work, "limited.yaml");
    writeFileSync(file, (await runner.theirs(["config", "view", "--raw"])).stdout, { mode: 0o600 });
    const config = ["config", "--kubeconfig", file];
    await runner.theirs([...config, "set-credentials", "limited", `--token=${token}`]);
    await runner.theirs([...config, "set-context", "--current", "--user=limited"]);
    return file;
  }
});

function configMapIn(namespace: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace } });
}

/** kubectl begins an error of the server with its reason, Setpoint each error with the same word. */
function comparable({ code, stdout, stderr }: PrintedBoth): PrintedBoth {
  const hidden = (text: string): string =>
    text.replaceAll(/\b\d+[smhd](?:\d+[smhd])?\b/g, "AGE").replaceAll(/ +/g, " ");
  return {
    code,
    stdout: hidden(stdout),
    stderr: stderr.replaceAll(/^(?:error: )?(?:Error from server \(\w+\): )?/gm, ""),
  };
}
