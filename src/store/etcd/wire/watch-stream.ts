/** An open watch call: sends requests, returns responses in order of arrival. */
import type { ClientDuplexStream } from "@grpc/grpc-js";
import type { WatchRequest, WatchResponse } from "./etcd-protocol.ts";

/** Buffered responses above which flow control stops the sender. */
const MAX_BUFFERED = 256;

export class WatchStream {
  readonly #call: ClientDuplexStream<WatchRequest, WatchResponse>;
  readonly #onEnd: () => void;
  #buffer: WatchResponse[] = [];
  #end: Error | undefined;
  #wake: (() => void) | undefined;

  /** `onEnd` is called at least once, after the last response. */
  constructor(call: ClientDuplexStream<WatchRequest, WatchResponse>, onEnd: () => void) {
    this.#call = call;
    this.#onEnd = onEnd;
    call.on("data", (response: WatchResponse) => {
      this.#buffer.push(response);
      if (this.#buffer.length >= MAX_BUFFERED) call.pause();
      this.#wake?.();
    });
    call.on("error", (error) => {
      this.#finish(error);
    });
    call.on("end", () => {
      this.#finish(new Error("etcd ended the watch"));
    });
  }

  send(request: WatchRequest): void {
    if (this.#end === undefined) this.#call.write(request);
  }

  /** Returns all new responses, at least one; fails when the stream has ended and all were taken. One caller at a time. */
  async next(): Promise<readonly WatchResponse[]> {
    while (this.#buffer.length === 0) {
      if (this.#end !== undefined) throw this.#end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#buffer;
    this.#buffer = [];
    this.#call.resume();
    return taken;
  }

  /** Ends the stream; drops responses that were not taken, and `next` fails with the reason. */
  close(reason: Error): void {
    this.#buffer = [];
    this.#finish(reason);
    this.#call.cancel();
  }

  #finish(reason: Error): void {
    this.#end ??= reason;
    this.#onEnd();
    this.#wake?.();
  }
}
