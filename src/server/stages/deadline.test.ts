import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settableLoop } from "../../base/fixture.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { Exchange } from "../request/exchange.ts";
import type { HttpResponse } from "../request/http.ts";
import { parseRequest } from "../request/parse-request.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { endInTime } from "./deadline.ts";

const ANSWER: HttpResponse = { status: 200, headers: new Map(), body: new Uint8Array(0) };
const ALLOWED_MS = 60_000;

const EXCHANGE: Exchange = {
  request: {
    headers: new Map(),
    peer: undefined,
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array(0)),
  },
  ...parseRequest("GET", "/slow"),
  user: undefined,
  notes: new RequestNotes(),
};

describe("endInTime", () => {
  test("each of many requests is answered when it completes, or times out", async () => {
    const request = fc.record({
      beginsAt: fc.integer({ min: 0, max: 100_000 }),
      takes: fc.oneof(fc.integer({ min: 1, max: ALLOWED_MS - 1 }), fc.constant(Infinity)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 12 }), async (requests) => {
        const loop = new VirtualLoop({ seed: 1 });
        const startedAt = loop.now();
        const stage = endInTime(loop);
        const ends: [number, string][] = requests.map(() => [0, ""]);
        const after = (ms: number, step: () => void): void =>
          void loop.timer(loop.now() + ms, "progress", step);
        for (const [at, { beginsAt, takes }] of requests.entries()) {
          const note = (how: string): void => {
            ends[at] = [loop.now() - startedAt, how];
          };
          const reply = (): Promise<HttpResponse> =>
            new Promise((resolve) => {
              if (takes !== Infinity) after(takes, () => resolve(ANSWER));
            });
          after(beginsAt, () => {
            void Promise.resolve(stage(EXCHANGE, reply)).then(
              () => note("answered"),
              () => note("ended"),
            );
          });
        }

        await loop.advance(200_000);

        expect(ends).toEqual(
          requests.map(({ beginsAt, takes }) =>
            takes === Infinity ? [beginsAt + ALLOWED_MS, "ended"] : [beginsAt + takes, "answered"],
          ),
        );
      }),
    );
  });

  test("requests with the same timeout share a timer", async () => {
    const world = new VirtualLoop({ seed: 1 });
    let timers = 0;
    const loop: Loop = {
      ...settableLoop(world),
      timer: (...args) => {
        timers += 1;
        return world.timer(...args);
      },
    };
    const stage = endInTime(loop);
    const query = new URLSearchParams("timeout=10s");

    for (let count = 0; count < 100; count += 1)
      await stage({ ...EXCHANGE, query }, () => Promise.resolve(ANSWER));
    const late = stage({ ...EXCHANGE, query }, () => new Promise(() => undefined)) as Promise<unknown>;
    const outcome = Promise.allSettled([late]);
    await world.advance(10_000);

    expect(await outcome).toMatchObject([{ status: "rejected", reason: { code: 504 } }]);
    expect(timers).toBe(1);
  });

  test("a response after the timeout is discarded", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const stage = endInTime(loop);
    let returned = 0;
    let stopped = 0;
    const pieces = {
      next: () => Promise.resolve({ done: true, value: undefined } as const),
      return: () => {
        returned += 1;
        return Promise.resolve({ done: true, value: undefined } as const);
      },
    };
    const body = { [Symbol.asyncIterator]: () => pieces };
    const feed = { start: () => undefined, resume: () => undefined, stop: () => void (stopped += 1) };
    const query = new URLSearchParams("timeout=1s");
    const late = [
      { ...ANSWER, body },
      { ...ANSWER, feed },
    ].map((response) =>
      stage(
        { ...EXCHANGE, query },
        () =>
          new Promise((resolve) => void loop.timer(loop.now() + 2000, "progress", () => resolve(response))),
      ),
    );
    const outcomes = Promise.allSettled(late.map((reply) => Promise.resolve(reply)));

    await loop.advance(3000);

    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([returned, stopped]).toEqual([1, 1]);
  });
});
