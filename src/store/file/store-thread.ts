/**
 * The worker thread of a store as seen from the main thread: requests are answered in order, each wait is announced to the
 * loop. When the thread dies, everything under way and everything later fails with the reason.
 */
import { Worker } from "node:worker_threads";
import type { Loop } from "../../base/loop.ts";
import { StoreError } from "../store-error.ts";
import type { Reply, Request, Results } from "./protocol.ts";

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export class StoreThread {
  readonly #loop: Loop;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #waiting: Waiting[] = [];
  /** Came before anybody waited for it: slabs of a store that is loaded faster than it is taken in. */
  readonly #arrived: Reply[] = [];
  #failure: unknown;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "setpoint store",
      // Flags of the process, such as --input-type, are not meant for this thread.
      execArgv: [],
    });
    this.#worker.on("message", (reply: Reply) => {
      this.#take(reply);
    });
    this.#worker.on("error", (error) => {
      this.#fail(error);
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        this.#fail(new StoreError("Closed", "the store is closed"));
        resolve();
      });
    });
  }

  /** `onRows` gets what a loading request sends before its answer. */
  async request<R extends Request>(request: R, onRows?: (slab: Buffer) => void): Promise<Results[R["type"]]> {
    this.#worker.postMessage(request, "records" in request ? [request.records] : []);
    for (;;) {
      const reply = await this.#loop.outside("store-file", this.#next());
      if (reply.type === "failed") throw failure(reply);
      // The thread answers in the order of the requests, so this is the answer to this one.
      if (reply.type === "done") return reply.result as Results[R["type"]];
      onRows?.(Buffer.from(reply.slab.buffer, reply.slab.byteOffset, reply.slab.byteLength));
    }
  }

  /** Ends the thread, and with it its connections. */
  async end(): Promise<void> {
    await this.#worker.terminate();
    await this.#loop.outside("store-file", this.#exited);
  }

  #next(): Promise<Reply> {
    const reply = this.#arrived.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived.push(reply);
    else waiting.resolve(reply);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#failure);
  }
}

function failure(reply: Extract<Reply, { type: "failed" }>): Error {
  return reply.code === undefined ? new Error(reply.message) : new StoreError(reply.code, reply.message);
}
