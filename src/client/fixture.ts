/** A transport whose answers a test writes down, and a loop that runs until a promise has settled. */
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
  /** In the order in which they came. */
  readonly requests: readonly TransportRequest[];
}

/** The answers in their order; after the last one, that one again. */
export function scripted(
  answers: readonly ScriptedAnswer[],
  events: readonly (readonly TransportEvent[])[] = [],
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  const answer = async (request: TransportRequest): Promise<TransportResponse> => {
    requests.push(request);
    const given = answers[Math.min(requests.length, answers.length) - 1] ?? {};
    if (given instanceof Error) throw given;
    return { code: 200, value: undefined, warnings: [], ...given };
  };
  const stream = async <T>(request: TransportRequest, items: readonly T[]): Promise<TransportStream<T>> => {
    const { code, value, retryAfterSeconds } = await answer(request);
    const refusal = code === 200 ? undefined : (value as TransportStream<T>["refusal"]);
    return { code, refusal, retryAfterSeconds, items: each(items) };
  };
  return {
    requests,
    send: answer,
    watch: (request) => stream(request, events),
    read: (request) => stream(request, [Buffer.from("a log")]),
    close: () => Promise.resolve(),
  };
}

/** Lets the world run until the promise has settled. */
export function settled<T>(loop: VirtualLoop, promise: Promise<T>): Promise<T> {
  return loop.finish(promise);
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
