/** A transport with scripted responses, and a function that runs a loop until a promise settles. */
import type { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "./transport.ts";

export type ScriptedAnswer = Partial<TransportResponse> | Error;

export interface ScriptedTransport extends Transport {
  /** In the order of arrival. */
  readonly requests: readonly TransportRequest[];
}

/** Returns the responses in order, and then the last one again and again. */
export function scripted(
  responses: readonly ScriptedAnswer[],
  events: readonly (readonly TransportEvent[])[] = [],
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  const respond = async (request: TransportRequest): Promise<TransportResponse> => {
    requests.push(request);
    const given = responses[Math.min(requests.length, responses.length) - 1] ?? {};
    if (given instanceof Error) throw given;
    return { code: 200, value: undefined, warnings: [], ...given };
  };
  const stream = async <T>(request: TransportRequest, items: readonly T[]): Promise<TransportStream<T>> => {
    const { code, value, retryAfterSeconds } = await respond(request);
    const refusal = code === 200 ? undefined : (value as TransportStream<T>["refusal"]);
    return { code, refusal, retryAfterSeconds, items: each(items) };
  };
  return {
    requests,
    send: respond,
    watch: (request) => stream(request, events),
    read: (request) => stream(request, [Buffer.from("a log")]),
    close: () => Promise.resolve(),
  };
}

/** Runs the loop until the promise settles. */
export function settled<T>(loop: VirtualLoop, promise: Promise<T>): Promise<T> {
  return loop.finish(promise);
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
