/** The real kubectl on a pod whose node runs the tests' own kubelet, over WebSockets and over SPDY. */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import { clientVersion, Kubectl, table } from "./kubectl/kubectl.ts";
import { KubeletWorld } from "./kubelet-world.ts";

const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };
/** Since this version kubectl speaks WebSockets by default. */
const SOCKETS_SINCE = 31;
const TIMEOUT_MS = 60_000;

describePeer("kubectl", "kubectl and a node's kubelet", (path) => {
  let world: KubeletWorld;
  let kubectl: Kubectl;

  beforeAll(async () => {
    // No loop runs, but the server is not alone, so it serves the metrics API.
    world = await KubeletWorld.start({ loops: [] });
    const { kubeconfig } = world.cluster;
    kubectl = new Kubectl({ path, kubeconfig, home: join(world.folder.path, "kubectl") }).within("default");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("logs shows the log, also of the container before", async () => {
    expect(await kubectl.ok("logs", "web")).toBe("line 1\n");
    expect(await kubectl.ok("logs", "web", "--previous", "--tail=5", "--timestamps", "--since=1h")).toBe(
      "2026-01-02T03:04:05Z previous\n",
    );
    expect(world.kubelet.requests.at(-1)).toBe(
      "GET /containerLogs/default/web/main?previous=true&sinceSeconds=3600&tailLines=5&timestamps=true as kube-apiserver-kubelet-client",
    );
  });

  test("logs -f follows until it is stopped, and the kubelet learns of it", async () => {
    for await (const line of kubectl.lines("logs", "-f", "web")) {
      expect(line).toBe("line 1");
      break;
    }
    const [follower] = world.kubelet.followers;
    if (follower !== undefined) await once(follower, "close");
  });

  const transports = { SPDY, ...(clientVersion(path) >= SOCKETS_SINCE && { WebSocket: {} }) };
  describe.each(Object.entries(transports))("over %s", (name, env) => {
    let client: Kubectl;
    beforeAll(() => {
      client = kubectl.with(env);
    });

    test("exec returns output and exit code", async () => {
      expect(await client.ok("exec", "web", "--", "sh", "-c", "echo out; echo err >&2")).toBe("out\n");
      const { code, stderr } = await client.run("exec", "web", "--", "sh", "-c", "exit 7");

      expect([code, stderr]).toEqual([7, "command terminated with exit code 7\n"]);
    });

    test("exec -i passes stdin to its end", async () => {
      const input = randomBytes(300_000).toString("base64");
      const child = execFile(path, client.arguments("exec", "-i", "web", "--", "cat"), {
        env: client.environment(),
        maxBuffer: 10_000_000,
        timeout: TIMEOUT_MS,
      });
      child.stdin?.end(input);
      let output = "";
      child.stdout?.on("data", (piece: string) => (output += piece));
      const [code] = (await once(child, "close")) as [number];

      expect([code, output === input]).toEqual([0, true]);
    });

    test("exec -it gives the command a terminal with the client's size", async () => {
      const command = [
        path,
        ...client.arguments("exec", "-it", "web", "--", "sh", "-c", "read line; echo got $line"),
      ];
      const child = spawn(
        "script",
        [
          "-qec",
          `stty cols 91 rows 17; ${command.join(" ").replace("read line; echo got $line", "'read line; echo got $line'")}`,
          "/dev/null",
        ],
        {
          env: client.environment(),
          timeout: TIMEOUT_MS,
        },
      );
      let output = "";
      let isAnswered = false;
      child.stdout.on("data", (piece: Buffer) => {
        output += piece.toString();
        if (isAnswered || !output.includes("size")) return;
        isAnswered = true;
        child.stdin.write("hello\r\n");
      });
      await once(child, "close");

      expect(output).toContain("size 91x17");
      expect(output).toContain("got hello");
    });

    test("cp copies a folder there and back", async () => {
      const [from, there, back] = ["from", "there", "back"].map((each) =>
        join(world.folder.path, `${name}-${each}`),
      );
      mkdirSync(from ?? "");
      const content = randomBytes(400_000);
      writeFileSync(join(from ?? "", "file"), content);

      await client.ok("cp", from ?? "", `web:${there}`);
      await client.ok("cp", `web:${there}`, back ?? "");

      expect(readFileSync(join(back ?? "", "file")).equals(content)).toBe(true);
    });

    test("attach joins the running container", async () => {
      const child = spawn(path, client.arguments("attach", "-i", "web"), {
        env: client.environment(),
        timeout: TIMEOUT_MS,
      });
      child.stdin.end("echoed\n");
      let output = "";
      child.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
      await once(child, "close");

      expect(output).toBe("echoed\n");
    });

    test("port-forward carries requests side by side", async () => {
      const server = createServer((request, response) => response.end(`served ${request.url}`));
      await once(server.listen(0, "127.0.0.1"), "listening");
      const { port } = server.address() as AddressInfo;
      const child = spawn(path, client.arguments("port-forward", "pod/web", `:${port}`), {
        env: client.environment(),
      });
      try {
        const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
        const local = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
        const asked = ["a", "b", "c"].map(async (each) => {
          const response = await fetch(`http://127.0.0.1:${local}/${each}`);
          return response.text();
        });

        expect(await Promise.all(asked)).toEqual(["served /a", "served /b", "served /c"]);
      } finally {
        child.kill();
        server.closeAllConnections();
        server.close();
        await once(child, "close");
      }
    });

    test("a command that cannot start is an error", async () => {
      const { code, stderr } = await client.run("exec", "web", "--", "/no/such/program");

      expect(code).toBe(1);
      expect(stderr).toContain("/no/such/program ENOENT");
    });
  });

  test("top shows what the kubelet measured", async () => {
    expect(table(await kubectl.ok("top", "pod", "--containers"))).toEqual([
      ["POD", "NAME", "CPU(cores)", "MEMORY(bytes)"],
      ["web", "main", "5m", "20Mi"],
    ]);
    expect(table(await kubectl.ok("top", "node", "n1", "--show-capacity"))).toEqual([
      ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"],
      ["n1", "250m", "12%", "1024Mi", "50%"],
    ]);
    const scrapes = world.kubelet.requests.filter((each) => each.includes("/stats/summary"));
    expect(scrapes).toHaveLength(1);
  });

  test("get --raw reaches the kubelet through the node's proxy", async () => {
    expect(await kubectl.ok("get", "--raw", "/api/v1/nodes/n1/proxy/healthz?a=b")).toBe("GET /healthz?a=b");
  });
});
