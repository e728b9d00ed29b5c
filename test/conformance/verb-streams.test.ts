/** `setpoint exec` and `setpoint port-forward` beside the real kubectl, on a pod whose node runs the tests' own kubelet. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { describePeer } from "../peers.ts";
import { KubeletWorld } from "./kubelet-world.ts";
import { VerbRunner } from "./verb-runner.ts";

describePeer("kubectl", "setpoint's streams and kubectl's", (kubectl) => {
  let world: KubeletWorld;
  let runner: VerbRunner;

  beforeAll(async () => {
    world = await KubeletWorld.start({ loops: [] });
    await world.create("/api/v1/namespaces/default/services", SERVICE);
    await merge(`${DEFAULT}/pods/web`, { metadata: { labels: { app: "web" } } });
    const { kubeconfig } = world.cluster;
    runner = new VerbRunner({ kubectl, kubeconfig, folder: world.folder.path });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  describe("exec", () => {
    test.each([
      [["exec", "web", "--", "sh", "-c", "echo out; echo err >&2"]],
      [["exec", "pod/web", "-c", "main", "--", "sh", "-c", "exit 7"]],
      [["exec", "service/web", "--", "echo", "-n", "--flag"]],
      [["exec", "-q", "web", "--", "sh", "-c", "echo out; exit 7"]],
      [["exec", "-it", "web", "--", "cat"]],
      [["exec", "-t", "web", "--", "echo", "no input"]],
    ])("%j prints the same", async (args) => {
      expect(await runner.ours(args, { stdin: "in\n" })).toEqual(await runner.theirs(args, "in\n"));
    });

    test.each([
      [["exec", "nope", "--", "true"], 'pods "nope" not found'],
      [["exec", "web", "-c", "nope", "--", "true"], "container nope is not valid for pod web"],
      [["exec", "web", "--", "/no/such/program"], "/no/such/program ENOENT"],
      [["exec", "service/nope", "--", "true"], 'services "nope" not found'],
    ])("%j fails for the same reason", async (args, reason) => {
      const [mine, other] = [await runner.ours(args), await runner.theirs(args)];

      expect([mine.code, other.code]).toEqual([1, 1]);
      expect(mine.stderr).toContain(reason);
      expect(other.stderr).toContain(reason);
    });

    test("without two dashes is refused with the line to type", async () => {
      expect(await runner.ours(["exec", "web", "ls"])).toMatchObject({
        code: 2,
        stderr: "error: write the command after two dashes: exec POD -- COMMAND\n",
      });
    });

    test("passes 300 KB of input to its end, byte by byte", async () => {
      const stdin = randomBytes(300_000).toString("base64");

      const { code, stdout } = await runner.ours(["exec", "-i", "web", "--", "cat"], { stdin });

      expect([code, stdout === stdin]).toEqual([0, true]);
    });

    test("ends with its command although the input stays open", async () => {
      const stdin = new PassThrough();

      expect(await runner.ours(["exec", "-i", "web", "--", "echo", "done"], { stdin })).toMatchObject({
        code: 0,
        stdout: "done\n",
      });
    });

    test("gives the command a terminal that follows the size of the user's, and gives that back", async () => {
      const modes: boolean[] = [];
      const stdin = new PassThrough();
      const setRawMode = (isRaw: boolean): never => void modes.push(isRaw) as never;
      let isResized = false;
      const { code, stdout } = await runner.ours(
        ["exec", "-it", "web", "--", "sh", "-c", "read line; echo got $line"],
        {
          stdin,
          terminal: { setRawMode, columns: 91, rows: 17 },
          onOutput: (text, streams) => {
            if (text.includes("size 40x10")) stdin.end("hello\n");
            if (isResized || !text.includes("size 91x17")) return;
            isResized = true;
            Object.assign(streams.stdout, { columns: 40, rows: 10 }).emit("resize");
          },
        },
      );

      expect({ code, modes }).toEqual({ code: 0, modes: [true, false] });
      expect(stdout).toContain("got hello");
    });

    test("ends when the user interrupts it, and the command gets killed", async () => {
      const ending = new AbortController();
      const args = ["exec", "web", "--", "sh", "-c", "echo begun; exec sleep 600"];

      const { code } = await runner.ours(args, { signal: ending.signal, onOutput: () => ending.abort() });

      expect(code).toBe(130);
      await expect.poll(() => world.kubelet.children.size).toBe(0);
    });
  });

  describe("port-forward", () => {
    test.each([["pod/web"], ["web"], ["service/web"]])(
      "to %s carries requests side by side",
      async (object) => {
        const port = await podServer();
        const remote = object.startsWith("service") ? "http" : String(port);
        await merge(`${DEFAULT}/services/web`, { spec: { ports: [{ ...WEB_PORT, targetPort: port }] } });

        const { lines, end } = await forwarded([object, `:${remote}`, `:${remote}`], 4);
        const [first = 0, second = 0] = [0, 2].map((at) => Number(/:(\d+) ->/.exec(lines[at] ?? "")?.[1]));
        const bodies = await Promise.all(
          [first, first, second].map((local, at) => body(`http://127.0.0.1:${local}/${at}`)),
        );
        const sixth = await body(`http://[::1]:${first}/six`);

        expect(lines).toEqual(
          [first, second].flatMap((local) => [
            `Forwarding from 127.0.0.1:${local} -> ${port}`,
            `Forwarding from [::1]:${local} -> ${port}`,
          ]),
        );
        expect([...bodies, sixth]).toEqual(["served /0", "served /1", "served /2", "served /six"]);
        const { code, stdout } = await end();
        expect(code).toBe(0);
        expect(stdout).toContain(`Handling connection for ${first}\n`);
      },
    );

    test("prints the same lines as kubectl", async () => {
      const port = await podServer();
      const args = ["pod/web", `:${port}`, "--address", "127.0.0.1"];
      const child = spawn(kubectl, ["port-forward", ...args], {
        env: { ...process.env, KUBECONFIG: world.cluster.kubeconfig },
      });
      onTestFinished(() => void child.kill());
      const [other] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { lines, end } = await forwarded(args, 1);
      await end();

      expect(lines.map(withoutPort)).toEqual([withoutPort(other)]);
    });

    test("reports a port of the pod at which nothing listens, and goes on", async () => {
      const port = await podServer();
      const closed = await freePort();
      const { lines, end } = await forwarded(["web", `:${closed}`, `:${port}`, "--address=127.0.0.1"], 2);
      const [first, second] = lines.map((line) => Number(/:(\d+) ->/.exec(line)?.[1]));

      await expect(fetch(`http://127.0.0.1:${first}/`)).rejects.toThrow("fetch failed");
      expect(await body(`http://127.0.0.1:${second}/x`)).toBe("served /x");
      const { stderr } = await end();
      expect(stderr).toMatch(
        new RegExp(`an error occurred forwarding ${first} -> ${closed}: .*ECONNREFUSED`),
      );
    });

    test("says so when the pod is gone, and when no local port can be had", async () => {
      const taken = createTcpServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      onTestFinished(() => void taken.close());
      const { port } = taken.address() as AddressInfo;
      const refused = await runner.ours(["port-forward", "web", `${port}:80`, "--address=127.0.0.1"]);
      const { end, ended } = await forwarded(["web", ":80"], 2);
      for (const socket of world.kubelet.sockets) socket.destroy();
      const lost = await ended;
      await end();

      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^Unable to listen on port \d+: listen EADDRINUSE.*\nerror: unable to listen on any of the requested ports/,
        ) as string,
      });
      expect(lost).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("error: lost connection to pod\n") as string,
      });
    });

    test.each([
      [["nope", "80"], 'pods "nope" not found'],
      [["service/web", "81"], "Service web does not have a service port 81"],
      [["service/web", "nope"], "Service 'web' does not have a named port 'nope'"],
      [["pod/web", "nope"], "Pod 'web' does not have a named port 'nope'"],
    ])("%j fails for the same reason", async (rest, reason) => {
      const args = ["port-forward", ...rest];
      const [mine, other] = [await runner.ours(args), await runner.theirs(args)];

      expect([mine.code, other.code]).toEqual([1, 1]);
      expect(mine.stderr).toContain(reason);
      expect(other.stderr).toContain(reason);
    });
  });

  async function merge(path: string, patch: unknown): Promise<void> {
    const headers = { "content-type": "application/merge-patch+json" };
    const { code, text } = await world.cluster.ask("PATCH", path, { body: patch, headers });
    expect({ code, text }).toMatchObject({ code: 200 });
  }

  /** Starts a forward, and resolves once it has printed the wanted number of lines. */
  async function forwarded(rest: readonly string[], wanted: number) {
    const ending = new AbortController();
    let noteReady: (lines: readonly string[]) => void = () => undefined;
    const ready = new Promise<readonly string[]>((resolve) => (noteReady = resolve));
    const ended = runner.ours(["port-forward", ...rest], {
      signal: ending.signal,
      onOutput: (text) => {
        const lines = text.split("\n").slice(0, -1);
        if (lines.length === wanted) noteReady(lines);
      },
    });
    const lines = await Promise.race([ready, ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    const end = () => {
      ending.abort();
      return ended;
    };
    return { lines, ended, end };
  }
});

const DEFAULT = "/api/v1/namespaces/default";
const WEB_PORT = { name: "http", port: 80 };
const SERVICE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { selector: { app: "web" }, ports: [WEB_PORT] },
};

/** A server on this machine, which is where the pod's ports are. */
async function podServer(): Promise<number> {
  const server = createServer((request, response) => response.end(`served ${request.url}`));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function body(url: string): Promise<string> {
  const response = await fetch(url, { headers: { connection: "close" } });
  return response.text();
}

function withoutPort(line: string): string {
  return line.replace(/:\d+ ->/, ":PORT ->");
}
