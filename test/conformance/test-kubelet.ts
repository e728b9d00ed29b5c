/** A small kubelet for tests: HTTPS with client certificates. Commands run as processes of this machine, without any isolation. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { acceptPortForward } from "../../src/streams/port-forward/accept-port-forward.ts";
import { acceptSession } from "../../src/streams/remote-command/command-session.ts";
import type { CommandSession } from "../../src/streams/remote-command/command-session.ts";
import type { UpgradeRequest } from "../../src/streams/upgrade.ts";

export interface TestKubeletOptions {
  readonly cert: string;
  readonly key: string;
  /** PEM of the authority of clients; other clients are refused. */
  readonly clientCa: string;
  /** Answers instead of the kubelet if it returns true. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const loop = createRealLoop({ name: "test-kubelet" });

export class TestKubelet implements AsyncDisposable {
  readonly port: number;
  /** Requests so far: method, target and user of the client certificate. */
  readonly requests: string[] = [];
  /** Open follow-logs. */
  readonly followers = new Set<ServerResponse>();
  readonly sockets = new Set<Socket>();
  readonly children = new Set<ChildProcess>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start({ cert, key, clientCa, intercept }: TestKubeletOptions): Promise<TestKubelet> {
    const options = { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: true };
    const server = createServer(options);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const kubelet = new TestKubelet(server);
    server.on("connection", (socket: Socket) => {
      kubelet.sockets.add(socket);
      socket.once("close", () => kubelet.sockets.delete(socket));
    });
    server.on("request", (request, response) => {
      kubelet.#note(request);
      if (intercept?.(request, response) !== true) kubelet.#answer(request, response);
    });
    server.on("upgrade", (request, socket, head) => {
      kubelet.#note(request);
      kubelet.#upgrade({ headers: request.headers, socket, head }, urlOf(request));
    });
    return kubelet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.children) child.kill("SIGKILL");
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #note(request: IncomingMessage): void {
    const { subject } = (
      request.socket as Socket & { getPeerCertificate: () => { readonly subject: { readonly CN: string } } }
    ).getPeerCertificate();
    this.requests.push(`${request.method} ${request.url} as ${subject.CN}`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = urlOf(request);
    const [, kind = "", , pod = ""] = url.pathname.split("/");
    if (kind === "containerLogs") return this.#log(url, pod, response);
    if (kind === "stats") return void response.end(JSON.stringify(SUMMARY));
    response.setHeader("content-type", "text/plain");
    response.end(`${request.method} ${request.url}`);
  }

  #log(url: URL, pod: string, response: ServerResponse): void {
    if (pod === "missing") return void response.writeHead(404).end("container not found\n");
    if (pod === "broken") return void response.writeHead(500).end("log file is gone\n");
    response.setHeader("content-type", "text/plain");
    if (pod === "quiet") return this.#hold(response);
    const prefix = url.searchParams.has("timestamps") ? "2026-01-02T03:04:05Z " : "";
    response.write(`${prefix}${url.searchParams.get("previous") === "true" ? "previous" : "line 1"}\n`);
    if (url.searchParams.get("follow") !== "true") return void response.end();
    this.#hold(response);
  }

  #hold(response: ServerResponse): void {
    this.followers.add(response);
    response.once("close", () => this.followers.delete(response));
  }

  #upgrade(upgrade: UpgradeRequest, url: URL): void {
    const [, kind = ""] = url.pathname.split("/");
    const query = url.searchParams;
    if (kind === "portForward") {
      void acceptPortForward({
        upgrade,
        query,
        loop,
        connect: async (port) => {
          const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
          await once(socket, "connect");
          return socket;
        },
      });
      return;
    }
    const flag = (name: string): boolean => query.get(name) === "1";
    const tty = flag("tty");
    const options = { stdin: flag("input"), stdout: flag("output"), stderr: flag("error") && !tty, tty };
    const command = kind === "attach" ? ["cat"] : query.getAll("command");
    void acceptSession({ upgrade, options, loop }).then((session) => session && this.#run(command, session));
  }

  async #run([file = "", ...args]: readonly string[], session: CommandSession): Promise<void> {
    const { stdin, stdout, stderr, resizes, signal } = session;
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.children.add(child);
    signal.addEventListener("abort", () => child.kill("SIGKILL"));
    resizes?.on("data", ({ width, height }: { width: number; height: number }) =>
      stdout?.write(`size ${width}x${height}\r\n`),
    );
    child.stdin.on("error", () => undefined);
    if (stdin === undefined) child.stdin.end();
    else stdin.pipe(child.stdin);
    if (stdout !== undefined) child.stdout.pipe(stdout, { end: false });
    const errors = stderr ?? stdout;
    if (errors !== undefined) child.stderr.pipe(errors, { end: false });
    try {
      const [code] = (await once(child, "close")) as [number | null];
      await session.finish({ type: "exited", code: code ?? 137 });
    } catch (error) {
      await session.finish({ type: "failed", message: (error as Error).message });
    } finally {
      this.children.delete(child);
    }
  }
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "", "https://kubelet");
}

const TIME = "2026-01-02T03:04:05Z";
const SUMMARY = {
  node: {
    nodeName: "n1",
    cpu: { time: TIME, usageNanoCores: 250_000_000, usageCoreNanoSeconds: 1e12 },
    memory: { time: TIME, workingSetBytes: 1024 * 1024 * 1024 },
  },
  pods: [
    {
      podRef: { name: "web", namespace: "default", uid: "1" },
      containers: [
        {
          name: "main",
          cpu: { time: TIME, usageNanoCores: 5_000_000 },
          memory: { time: TIME, workingSetBytes: 20 * 1024 * 1024 },
        },
      ],
    },
  ],
};
