/** The real kubectl on pods that are processes of this machine: what a user of services does all day. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listProcesses } from "../../src/agent/process/process-table.ts";
import { describePeer } from "../peers.ts";
import { clientVersion, Kubectl } from "./kubectl/kubectl.ts";
import { namespacesHere } from "./process-machine.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const POLL = { timeout: 30_000, interval: 100 };
const TIMEOUT_MS = 60_000;
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };
/** Since this version kubectl speaks WebSockets by default, and its `debug` knows today's API. */
const SOCKETS_SINCE = 31;

const isolation = await namespacesHere();
const here = isolation.type === "namespaces" ? "" : ` (skipped: needs namespaces: ${isolation.reason})`;

describePeer("kubectl", `kubectl and process pods${here}`, (path) => {
  describe.skipIf(here !== "")("on this machine", () => {
    processPods(path);
  });
});

function processPods(path: string): void {
  const folder = new Folder();
  let cluster: RunningCluster;
  let kubectl: Kubectl;

  beforeAll(async () => {
    const machine = { images: [], keepsPods: false, isDefault: true };
    cluster = await RunningCluster.start(folder, { loops: "all", machine });
    const { kubeconfig } = cluster;
    kubectl = new Kubectl({ path, kubeconfig, home: join(folder.path, "kubectl") }).within("default");
    const volumeMounts = [{ name: "settings", mountPath: "/etc/settings" }];
    const tools = podOf({ name: "tools", command: ["sleep", "1000"], volumeMounts });
    const echo = podOf({ name: "echo", command: ["cat"], stdin: true });
    await kubectl.ok(
      ...["apply", "-f", kubectl.file("start.json", listOf(SETTINGS, tools, echo, SERVICE, STATEFUL))],
    );
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=20s");
    await kubectl.ok("wait", "--for=condition=Ready", "pod/tools", "pod/echo", "--timeout=20s");
  });

  afterAll(async () => {
    await cluster.stop();
    expect(listProcesses().filter((row) => row.arguments.includes(cluster.dataDir))).toEqual([]);
    folder.remove();
  });

  const transports = { SPDY, ...(clientVersion(path) >= SOCKETS_SINCE && { WebSocket: {} }) };
  describe.each(Object.entries(transports))("over %s", (name, env) => {
    let client: Kubectl;
    beforeAll(() => {
      client = kubectl.with(env);
    });

    test("exec runs a program beside the pod's, with its input and its end", async () => {
      const child = spawn(
        path,
        client.arguments("exec", "-i", "tools", "--", "sh", "-c", "cat; echo $HOSTNAME; exit 7"),
        {
          env: client.environment(),
          timeout: TIMEOUT_MS,
        },
      );
      child.stdin.end("input\n");
      let output = "";
      child.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
      const [code] = (await once(child, "close")) as [number];

      expect([code, output]).toEqual([7, "input\ntools\n"]);
    });

    test("exec -it gives it a terminal with the size of the client's", async () => {
      const script = `'until [ "$(stty size)" = "17 91" ]; do sleep 0.05; done; echo ready; read line; echo got $line'`;
      const words = client.arguments("exec", "-it", "tools", "--", "sh", "-c", script);
      const inTerminal = `stty cols 91 rows 17; ${[path, ...words].join(" ")}`;
      const child = spawn("script", ["-qec", inTerminal, "/dev/null"], {
        env: client.environment(),
        timeout: TIMEOUT_MS,
      });
      let output = "";
      child.stdout.on("data", (piece: Buffer) => {
        const isReady = output.includes("ready");
        output += piece.toString();
        if (!isReady && output.includes("ready")) child.stdin.write("hello\r\n");
      });
      await once(child, "close");

      expect(output).toContain("got hello");
    });

    test("cp copies a folder there and back", async () => {
      const from = join(folder.path, `${name}-from`);
      const back = join(folder.path, `${name}-back`);
      mkdirSync(from);
      const content = randomBytes(300_000);
      writeFileSync(join(from, "file"), content);

      await client.ok("cp", from, `tools:/tmp/setpoint-${name}`);
      await client.ok("cp", `tools:/tmp/setpoint-${name}`, back);
      await client.ok("exec", "tools", "--", "rm", "-r", `/tmp/setpoint-${name}`);

      expect(readFileSync(join(back, "file")).equals(content)).toBe(true);
    });

    test("port-forward reaches a pod, and attach the pod's own program", async () => {
      const forward = spawn(path, client.arguments("port-forward", "deployment/web", ":8080"), {
        env: client.environment(),
        stdio: ["ignore", "pipe", "ignore"],
      });
      const attach = spawn(path, client.arguments("attach", "-i", "echo"), {
        env: client.environment(),
        timeout: TIMEOUT_MS,
      });
      try {
        const [line] = (await once(createInterface({ input: forward.stdout }), "line")) as [string];
        const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? "";
        const answers = await Promise.all(
          [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text()),
        );
        expect(answers).toEqual(["first", "first", "first"]);

        attach.stdin.write("echoed\n");
        expect(await once(createInterface({ input: attach.stdout }), "line")).toEqual(["echoed"]);
      } finally {
        for (const child of [forward, attach]) {
          child.kill();
          await once(child, "close");
        }
      }
    });
  });

  test("a container for debugging joins a running pod", async () => {
    const command = ["sh", "-c", "echo debugging $HOSTNAME; exec sleep 1000"];
    if (clientVersion(path) >= SOCKETS_SINCE)
      await kubectl.ok("debug", "tools", "--image=none", "--container=debugger", "--", ...command);
    else {
      const body = { spec: { ephemeralContainers: [{ name: "debugger", image: "none", command }] } };
      const headers = { "content-type": "application/strategic-merge-patch+json" };
      const place = "/api/v1/namespaces/default/pods/tools/ephemeralcontainers";
      expect(await cluster.ask("PATCH", place, { body, headers })).toMatchObject({ code: 200 });
    }

    await expect
      .poll(() => kubectl.run("logs", "tools", "-c", "debugger"), POLL)
      .toMatchObject({
        stdout: "debugging tools\n",
      });
  });

  test("logs -f shows lines as they come", async () => {
    const lines = kubectl.lines("logs", "-f", "deployment/web", "--all-containers");
    const seen: string[] = [];
    for await (const line of lines) {
      if (seen.push(line) === 1) await kubectl.ok("exec", "deployment/web", "--", ...GET, "/mark");
      if (line === "GET /mark") break;
    }

    expect(seen[0]).toBe("listening");
  });

  test("a rolling update replaces servers one by one, and never fewer than wanted answer", async () => {
    const deployment = "jsonpath={.status.availableReplicas}";
    await kubectl.ok("set", "env", "deployment/web", "ANSWER=second");
    const available = new Set<string>();
    let isDone = false;
    const rollout = kubectl
      .ok("rollout", "status", "deployment/web", "--timeout=20s")
      .finally(() => (isDone = true));
    while (!isDone) available.add(await kubectl.ok("get", "deployment", "web", "-o", deployment));
    await rollout;

    expect([...available].filter((count) => Number(count) < 3)).toEqual([]);
    expect(await kubectl.ok("exec", "deployment/web", "--", ...GET, "/")).toBe("second");
  });

  test("a server that is killed runs again, the second time after a delay, and its last words are kept", async () => {
    const names = () =>
      kubectl.ok("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}");
    await expect.poll(async () => (await names()).split(" ").length, POLL).toBe(3);
    const [pod = ""] = (await names()).split(" ");
    const status = (fields: string) =>
      kubectl.ok("get", "pod", pod, "-o", `jsonpath={.status.containerStatuses[0]${fields}}`);
    await kubectl.ok("exec", pod, "--", ...GET, "/last-words");
    await kill(pod);

    await expect.poll(() => status("['restartCount','ready']"), POLL).toBe("1 true");
    expect(await kubectl.ok("logs", pod, "--previous", "--tail=1")).toBe("GET /last-words\n");
    expect(await kubectl.ok("logs", pod)).toMatch(/^listening\n/);
    await kill(pod);
    await expect
      .poll(() => status(".state.waiting.message"), POLL)
      .toContain("back-off 10s restarting failed container");
    expect(await status(".lastState.terminated.exitCode")).toBe("137");
  });

  test("data of a StatefulSet survives its pod", async () => {
    const log = () => kubectl.run("logs", "data-0").then(({ stdout }) => stdout);
    await expect.poll(log, POLL).toMatch(/^runs: [12]\n/);
    const before = Number(/\d/.exec(await log())?.[0]);

    await kubectl.ok("delete", "pod", "data-0");

    await expect.poll(log, POLL).toBe(`runs: ${String(before + 1)}\n`);
  });

  test("Jobs and CronJobs run commands, and their logs stay", async () => {
    await kubectl.ok("create", "job", "sum", "--image=none", "--", "sh", "-c", "echo $((6*7))");
    await kubectl.ok(
      "create",
      "cronjob",
      "report",
      "--image=none",
      "--schedule=0 0 1 1 *",
      "--",
      "sh",
      "-c",
      "echo report",
    );
    await kubectl.ok("create", "job", "report-now", "--from=cronjob/report");
    await kubectl.ok("wait", "--for=condition=complete", "job/sum", "job/report-now", "--timeout=20s");

    expect(await kubectl.ok("logs", "job/sum")).toBe("42\n");
    expect(await kubectl.ok("logs", "job/report-now")).toBe("report\n");
  });

  test("an edited ConfigMap changes the files in a running pod", async () => {
    const read = () => kubectl.ok("exec", "tools", "--", "cat", "/etc/settings/colour");
    expect(await read()).toBe("blue");
    await kubectl.ok("patch", "configmap", "settings", "-p", '{"data":{"colour":"green"}}');

    await expect.poll(read, POLL).toBe("green");
  });

  test("the pod's token is accepted by the server", async () => {
    expect(await kubectl.ok("exec", "tools", "--", process.execPath, "-e", WHO_AM_I)).toBe(
      "system:serviceaccount:default:default",
    );
  });

  test("top shows what pods use", async () => {
    await expect
      .poll(() => kubectl.run("top", "pod", "tools", "--no-headers"), POLL)
      .toMatchObject({ code: 0 });
    expect(await kubectl.ok("top", "pod", "tools", "--no-headers")).toMatch(/^tools +\d+m +\d+Mi/);
  });

  test("drain moves everything away from the node", async () => {
    const node = await kubectl.ok("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}");
    await kubectl.ok(
      "drain",
      node,
      "--force",
      "--delete-emptydir-data",
      "--ignore-daemonsets",
      "--grace-period=1",
      "--timeout=20s",
    );

    expect(await kubectl.ok("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")).toBe("");
    await kubectl.ok("uncordon", node);
  });

  /** Kills the program of the pod as an accident would. */
  async function kill(pod: string): Promise<void> {
    const pid = await kubectl.ok("exec", pod, "--", "sh", "-c", "pgrep -f [c]reateServer | head -1");
    // It ends with the namespace of the program, before or after its exit code is sent.
    await kubectl.run("exec", pod, "--", "kill", "-9", pid.trim());
  }
}

function podOf(container: { readonly name: string; readonly [field: string]: unknown }): object {
  const volumes = [{ name: "settings", configMap: { name: "settings" } }];
  const spec = { containers: [{ image: "none", ...container }], volumes, terminationGracePeriodSeconds: 1 };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: container.name }, spec };
}

function listOf(...items: readonly object[]): object {
  return { apiVersion: "v1", kind: "List", items };
}

const SERVER = `const http = require("http");
http.createServer((request, response) => {
  console.log(request.method, request.url);
  response.end(process.env.ANSWER);
}).listen(8080, () => console.log("listening"));`;
/** A request to the pod's own server. */
const GET = [
  process.execPath,
  "-e",
  `fetch("http://127.0.0.1:8080" + process.argv[1]).then((answer) => answer.text()).then((text) => process.stdout.write(text))`,
];
const WHO_AM_I = `const fs = require("fs");
const folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
const headers = { authorization: "Bearer " + fs.readFileSync(folder + "token"), "content-type": "application/json" };
const options = { host, port, path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", method: "POST", headers, ca: fs.readFileSync(folder + "ca.crt") };
require("https").request(options, (response) => {
  let text = "";
  response.on("data", (piece) => (text += piece));
  response.on("end", () => process.stdout.write(JSON.parse(text).status.userInfo.username));
}).end(JSON.stringify(review));`;

const SETTINGS = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings" },
  data: { colour: "blue" },
};

const SERVICE = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "web",
            image: "none",
            command: [process.execPath, "-e", SERVER],
            env: [{ name: "ANSWER", value: "first" }],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

const STATEFUL = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "data" },
  spec: {
    serviceName: "data",
    replicas: 1,
    selector: { matchLabels: { app: "data" } },
    template: {
      metadata: { labels: { app: "data" } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "data",
            image: "none",
            command: [
              "sh",
              "-c",
              "echo run >> /data/runs; echo runs: $(wc -l < /data/runs); exec sleep 1000",
            ],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
      },
    ],
  },
};
