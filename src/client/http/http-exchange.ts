/** One request on a socket, until the headers of its response. */
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { RequestOptions } from "node:https";
import type { Loop } from "../../base/loop/loop.ts";

export interface ExchangeStart {
  readonly loop: Loop;
  readonly isTls: boolean;
  readonly options: RequestOptions;
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface Exchange {
  readonly response: IncomingMessage;
  /** Cancels the timeout, for a stream of unbounded duration. */
  liftDeadline(): void;
}

/**
 * Rejects when there is no response. Closes the socket at once on an abort or a timeout, also while the body is read.
 */
export function openExchange(start: ExchangeStart): Promise<Exchange> {
  const { loop, isTls, options, body, signal, timeoutMs } = start;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = isTls ? httpsRequest(options) : httpRequest(options);
    let response: IncomingMessage | undefined;
    const cut = (reason: Error): void => void (response ?? outgoing).destroy(reason);
    const deadline = loop.timer(loop.now() + timeoutMs, "periodic", () =>
      cut(new Error(`the response was not complete within ${timeoutMs / 1000} s`)),
    );
    const onAbort = (): void => cut(new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
    outgoing.on("response", (incoming) => {
      response = incoming;
      // Readers of the body receive its errors themselves. Without a reader the error is irrelevant.
      incoming.on("error", () => undefined);
      resolve({ response: incoming, liftDeadline: () => deadline.cancel() });
    });
    outgoing.on("error", reject);
    outgoing.on("close", () => {
      deadline.cancel();
      signal.removeEventListener("abort", onAbort);
      reject(new Error("the connection was closed without a response"));
    });
    outgoing.end(body);
  });
}
