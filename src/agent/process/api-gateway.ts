/**
 * Makes the API server reachable for pods: listens on the address of the Service `kubernetes` in the network of the
 * pods, and passes connections on. Nothing else answers there, because no Service is routed yet.
 */
import { spawn } from "node:child_process";
import { createConnection, Server, type Socket } from "node:net";
import type { Loop } from "../../base/loop/loop.ts";
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

/** The server in the network of one node. */
interface Opening {
  readonly node: ProcessIdentity;
  readonly server: Promise<Server>;
}

export class ApiGateway {
  readonly #api: ApiAddress;
  readonly #loop: Loop;
  readonly #sockets = new Set<Socket>();
  #opening: Opening | undefined;

  constructor(api: ApiAddress, loop: Loop) {
    this.#api = api;
    this.#loop = loop;
  }

  /** Pods that start together share one opening. A new network gets a new one. Rejects with the message of the system. */
  async open(node: ProcessIdentity): Promise<void> {
    const known = this.#opening;
    if (known?.node.pid === node.pid && known.node.start === node.start) {
      await known.server;
      return;
    }
    const opening = { node, server: this.#listen(node) };
    this.#opening = opening;
    try {
      await Promise.all([opening.server, known && closeServer(known)]);
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (opening !== undefined) await closeServer(opening);
  }

  async #listen({ pid }: ProcessIdentity): Promise<Server> {
    const { address, port } = this.#api.service;
    const listen = [process.execPath, "-e", LISTEN, address, String(port)];
    const inside = ["nsenter", `--net=/proc/${String(pid)}/ns/net`, "sh", "-c", ADD_AND_RUN, "sh", address];
    const server = await this.#loop.outside("api gateway", receiveServer([...inside, ...listen]));
    server.on("connection", (socket: Socket) => this.#pass(socket));
    return server;
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

/** No-op for a server that never listened. */
async function closeServer({ server }: Opening): Promise<void> {
  const listening = await server.catch(() => undefined);
  if (listening !== undefined) await new Promise((resolve) => listening.close(resolve));
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
