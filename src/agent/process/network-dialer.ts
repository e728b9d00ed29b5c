/**
 * Connects to pods whose network this machine cannot reach: a helper process inside the network connects, and hands
 * over the sockets.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { NetworkPart } from "./network-part.ts";
import type { ProcessIdentity } from "./process-table.ts";

/** Sockets are paused, so that no byte is read here. The helper ends with the agent. */
const CONNECT = `
const { connect } = require("net");
process.on("message", ({ id, address, port }) => {
  const socket = connect({ host: address, port, allowHalfOpen: true }).pause();
  socket.on("error", ({ code, message }) => process.send({ id, code, message }));
  socket.once("connect", () => process.send({ id }, socket));
});
process.once("disconnect", () => process.exit());
`;

interface Reply {
  readonly id: number;
  /** Without a socket: why there is none. */
  readonly code?: string;
  readonly message?: string;
}

interface Waiting {
  readonly resolve: (socket: Socket) => void;
  readonly reject: (error: Error) => void;
}

export class NetworkDialer {
  readonly #helper: NetworkPart<Helper>;

  /** `enter` gives the words that bring a command into the network of the node. */
  constructor(enter: (node: ProcessIdentity) => readonly string[]) {
    this.#helper = new NetworkPart({
      open: async (node) => Helper.start(enter(node), () => void this.#helper.close()),
      close: (helper) => helper.close(),
    });
  }

  /** Starts the helper with the first call. Rejects with the error of the connection. */
  async dial(node: ProcessIdentity, address: string, port: number): Promise<Socket> {
    const helper = await this.#helper.open(node);
    return helper.dial(address, port);
  }

  /** Connections that were handed over stay open. */
  close(): Promise<void> {
    return this.#helper.close();
  }
}

class Helper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  private constructor(child: ChildProcess, ended: () => void) {
    this.#child = child;
    let problem = "";
    child.stderr?.on("data", (chunk) => (problem += String(chunk)));
    child.on("message", (reply, handle) => this.#settle(reply as Reply, handle));
    const end = (text: string): void => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`cannot connect to the pods' network: ${text}`));
      this.#waiting.clear();
      ended();
    };
    child.once("error", (error) => end(error.message));
    child.once("close", () => end(problem.trim() || "the helper process ended"));
  }

  static start([program = "", ...args]: readonly string[], ended: () => void): Helper {
    const words = [...args, process.execPath, "-e", CONNECT];
    // Signals of the agent's terminal must not end it before the agent has ended its pods.
    const options = { stdio: ["ignore", "ignore", "pipe", "ipc"], cwd: "/", detached: true } as const;
    return new Helper(spawn(program, words, { ...options, stdio: [...options.stdio] }), ended);
  }

  dial(address: string, port: number): Promise<Socket> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, address, port }, (error) => {
        if (error === null) return;
        this.#waiting.delete(id);
        reject(error);
      });
    });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await ended;
  }

  #settle({ id, code, message = "no socket came" }: Reply, handle: unknown): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!(handle instanceof Socket)) {
      waiting?.reject(Object.assign(new Error(message), { code }));
      return;
    }
    handle.allowHalfOpen = true;
    if (waiting === undefined) handle.destroy();
    else waiting.resolve(handle);
  }
}
