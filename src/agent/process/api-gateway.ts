/**
 * Makes the API server reachable for pods: listens on the address of the Service `kubernetes` in the network of the
 * pods, and passes connections on. Nothing else answers there, because no Service is routed yet.
 */
import { spawn } from "node:child_process";
import { createConnection, Server, type Socket } from "node:net";
import type { Loop } from "../../base/loop/loop.ts";
import { NetworkPart } from "./network-part.ts";
import type { ProcessIdentity } from "./process-table.ts";

/** An address of the API server and where it really is. */
export interface ApiAddress {
  readonly service: { readonly address: string; readonly port: number };
  readonly server: { readonly host: string; readonly port: number };
}

/** Listens in the namespace that it runs in, hands the socket to its parent and ends. */
const LISTEN =
  'const s=require("net").createServer();s.on("error",e=>{process.stderr.write(e.message);process.exit(1)});' +
  's.listen(+process.argv[2],process.argv[1],()=>process.send("listening",s,()=>process.exit(0)))';

/** The address may be there already, from an earlier agent: then only the listening says whether it works. */
const ADD_AND_RUN = 'ip addr add "$1" dev lo 2>/dev/null; shift; exec "$@"';

export interface ApiGatewayOptions {
  readonly api: ApiAddress;
  readonly loop: Loop;
  /** Words that bring a command into the network of the node. */
  readonly enter: (node: ProcessIdentity) => readonly string[];
}

export class ApiGateway {
  readonly #options: ApiGatewayOptions;
  readonly #sockets = new Set<Socket>();
  readonly #server = new NetworkPart<Server>({
    open: (node) => this.#listen(node),
    close: (server) => new Promise((resolve) => server.close(() => resolve())),
  });

  constructor(options: ApiGatewayOptions) {
    this.#options = options;
  }

  /** Rejects with the message of the system. No-op while it listens. */
  async open(node: ProcessIdentity): Promise<void> {
    await this.#server.open(node);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#server.close();
  }

  async #listen(node: ProcessIdentity): Promise<Server> {
    const { api, loop, enter } = this.#options;
    const { address, port } = api.service;
    const listen = [process.execPath, "-e", LISTEN, address, String(port)];
    const words = [...enter(node), "sh", "-c", ADD_AND_RUN, "sh", address, ...listen];
    const server = await loop.outside("api gateway", receiveServer(words));
    server.on("connection", (socket: Socket) => this.#pass(socket));
    return server;
  }

  #pass(inner: Socket): void {
    const outer = createConnection(this.#options.api.server);
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
