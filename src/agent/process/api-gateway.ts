/**
 * Makes the API server reachable for pods: listens on the address of the Service `kubernetes` in the network of the
 * pods, and passes connections on. Nothing else answers there, because no Service is routed yet.
 */
import { spawn } from "node:child_process";
import { createConnection, Server, type Socket } from "node:net";
import type { Loop } from "../../base/loop/loop.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { runCommand } from "./run-command.ts";

/** An address of the API server and where it really is. */
export interface ApiAddress {
  readonly service: { readonly address: string; readonly port: number };
  readonly server: { readonly host: string; readonly port: number };
}

/** Listens in the namespace that it runs in, hands the socket to its parent and ends. */
const LISTEN =
  'const s=require("net").createServer();s.on("error",e=>{process.stderr.write(e.message);process.exit(1)});' +
  's.listen(+process.argv[2],process.argv[1],()=>process.send("listening",s,()=>process.exit(0)))';

export class ApiGateway {
  readonly #api: ApiAddress;
  readonly #loop: Loop;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(api: ApiAddress, loop: Loop) {
    this.#api = api;
    this.#loop = loop;
  }

  /** Rejects with the message of the system. No-op while it listens. */
  async open(node: ProcessIdentity): Promise<void> {
    if (this.#server !== undefined) return;
    const inside = ["nsenter", `--net=/proc/${String(node.pid)}/ns/net`];
    const { address, port } = this.#api.service;
    // An earlier agent has added it already; then the command fails, and the listening succeeds.
    await runCommand(this.#loop, [...inside, "ip", "addr", "add", address, "dev", "lo"]);
    const listening = receiveServer([...inside, process.execPath, "-e", LISTEN, address, String(port)]);
    this.#server = await this.#loop.outside("api gateway", listening);
    this.#server.on("connection", (socket: Socket) => this.#pass(socket));
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  #pass(inner: Socket): void {
    const outer = createConnection(this.#api.server);
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

function receiveServer([program = "", ...args]: readonly string[]): Promise<Server> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe", "ipc"], cwd: "/" });
    let problem = "";
    child.stderr?.on("data", (chunk) => (problem += String(chunk)));
    child.once("message", (_message, handle) => {
      if (handle instanceof Server) resolve(handle);
      else reject(new Error("the API gateway got no socket"));
    });
    child.once("error", reject);
    child.once("close", () =>
      reject(new Error(`cannot listen for the API in the pods' network: ${problem.trim()}`)),
    );
  });
}
