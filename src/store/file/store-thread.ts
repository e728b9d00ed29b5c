/**
 * The worker thread of a store, as seen from the main thread. Requests are answered in order, and each wait is
 * announced to the loop. When the thread dies, all pending and later requests fail with the reason.
 */
import { Worker } from "node:worker_threads";
import type { Loop } from "../../base/loop/loop.ts";
import { TurnPoller } from "../../base/loop/turn-poller.ts";
import { StoreError } from "../store-error.ts";
import { ChannelEnd, createChannel } from "./channel.js";
import type { Reply, Request, Results } from "./thread-protocol.ts";

/**
 * Upper bound of the last commit's time for polling: the response to a lone commit is polled for up to twice that time.
 * This saves a single writer on a quick disk the time to wake this thread; a slow disk or a busy store costs nothing.
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
  /** Messages that arrived early: slabs of a store that loads faster than they are processed. */
  readonly #arrived: Reply[] = [];
  #failure: unknown;
  /** Duration of the last commit. */
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

  /** `onRows` gets the rows that a loading request sends before its response. */
  async request<R extends Request>(request: R, onRows?: (slab: Buffer) => void): Promise<Results[R["type"]]> {
    this.#channel.post(request, "records" in request ? [request.records] : []);
    for (;;) {
      const reply = await this.#loop.outside("store-file", this.#next());
      if (reply.type === "failed") throw failure(reply);
      // Responses come in the order of the requests, so this one belongs to this request.
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

  /** Ends the thread and its connections. */
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

  /** Processes the messages that the thread sent before it died. */
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
