/**
 * The worker thread of a store as seen from the main thread: requests are answered in order, each wait is announced to the
 * loop. When the thread dies, everything under way and everything later fails with the reason.
 */
import { Worker } from "node:worker_threads";
import type { Loop } from "../../base/loop/loop.ts";
import { TurnPoller } from "../../base/loop/turn-poller.ts";
import { StoreError } from "../store-error.ts";
import { ChannelEnd, createChannel } from "./channel.js";
import type { Reply, Request, Results } from "./protocol.ts";

/**
 * A commit that is alone is looked out for when the last one took no longer than this, and for twice as long as that one took. So a
 * single writer on a quick disk saves the time to wake this thread, and a slow disk or a busy store costs nothing.
 */
const QUICK_COMMIT_MS = 0.5;

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export class StoreThread {
  readonly #loop: Loop;
  readonly #worker: Worker;
  readonly #channel: ChannelEnd<Request, Reply>;
  readonly #poller: TurnPoller;
  readonly #exited: Promise<void>;
  readonly #waiting: Waiting[] = [];
  /** Came before anybody waited for it: slabs of a store that is loaded faster than it is taken in. */
  readonly #arrived: Reply[] = [];
  #failure: unknown;
  /** How long the last commit took. */
  #commitMs = Infinity;

  constructor(loop: Loop) {
    this.#loop = loop;
    const [ours, theirs] = createChannel();
    this.#channel = new ChannelEnd(ours);
    this.#channel.onMessage((reply) => this.#take(reply));
    this.#poller = new TurnPoller(loop, () => this.#look());
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "setpoint store",
      workerData: theirs,
      transferList: [theirs.port],
      // Flags of the process, such as --input-type, are not meant for this thread.
      execArgv: [],
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
    this.#channel.post(request, "records" in request ? [request.records] : []);
    for (;;) {
      const reply = await this.#loop.outside("store-file", this.#next());
      if (reply.type === "failed") throw failure(reply);
      // The thread answers in the order of the requests, so this is the answer to this one.
      if (reply.type === "done") return reply.result as Results[R["type"]];
      onRows?.(Buffer.from(reply.slab.buffer, reply.slab.byteOffset, reply.slab.byteLength));
    }
  }

  async commit(records: ArrayBuffer): Promise<void> {
    const startedAt = this.#loop.elapsed();
    const committed = this.request({ type: "commit", records, elapsedMs: startedAt });
    if (this.#isOneWaiting && this.#commitMs <= QUICK_COMMIT_MS) this.#poller.begin(2 * this.#commitMs);
    await committed;
    this.#commitMs = this.#loop.elapsed() - startedAt;
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

  get #isOneWaiting(): boolean {
    return this.#waiting.length === 1;
  }

  #look(): boolean {
    this.#takeArrived();
    return this.#isOneWaiting;
  }

  #takeArrived(): void {
    for (let reply = this.#channel.next(); reply !== undefined; reply = this.#channel.next())
      this.#take(reply);
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived.push(reply);
    else waiting.resolve(reply);
  }

  /** What it said before it died counts. */
  #fail(error: unknown): void {
    this.#takeArrived();
    this.#failure ??= error;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#failure);
  }
}

function failure(reply: Extract<Reply, { type: "failed" }>): Error {
  if (reply.code !== undefined) return new StoreError(reply.code, reply.message);
  return Object.assign(new Error(reply.message), reply.system);
}
