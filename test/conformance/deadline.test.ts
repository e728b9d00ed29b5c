import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import type { HttpRequest, HttpResponse } from "../../src/server/request/http.ts";
import { TestApi, wholeBody } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** A request whose body never comes. */
function stuck(target: string): HttpRequest {
  return {
    method: "POST",
    target,
    headers: new Map([["content-type", "application/json"]]),
    peer: { user: "admin", groups: ["system:masters"] },
    signal: new AbortController().signal,
    readBody: () => new Promise(() => {}),
  };
}

async function statusOf(response: HttpResponse): Promise<unknown> {
  return JSON.parse((await wholeBody(response)).toString());
}

describe("the deadline of a request", () => {
  test.each([
    ["by default", "", 60_000],
    ["as asked", "?timeout=10s", 10_000],
    ["with all of Go's units", "?timeout=1s500ms", 1500],
    ["never more than the server allows", "?timeout=1h", 60_000],
    ["zero is none of the client's own", "?timeout=0s", 60_000],
  ])("ends it %s", async (_, query, ms) => {
    const loop = new VirtualLoop({ seed: 1 });
    const api = await TestApi.start([], { loop });
    let answer: HttpResponse | undefined;
    void Promise.resolve(api.handler(stuck(MAPS + query))).then((response) => (answer = response));

    await loop.advance(ms - 1);
    expect(answer).toBeUndefined();
    await loop.advance(1);

    if (answer === undefined) throw new Error("the request goes on");
    expect(await statusOf(answer)).toMatchObject({
      code: 504,
      reason: "Timeout",
      message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
    });
  });

  test("counts for each request from its own beginning", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const api = await TestApi.start([], { loop });
    const endedAt: number[] = [];
    const start = loop.now();
    const send = async (): Promise<void> => {
      await api.handler(stuck(MAPS));
      endedAt.push(loop.now() - start);
    };

    void send();
    await loop.advance(25_000);
    void send();
    await loop.advance(120_000);
    void send();
    await loop.advance(60_000);

    expect(endedAt).toEqual([60_000, 85_000, 205_000]);
  });

  test.each(["10", "soon", "1x"])("a timeout of %s is refused", async (text) => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("GET", `${MAPS}?timeout=${text}`);

    expect(code).toBe(400);
    expect(body["message"]).toMatch(/^invalid timeout specified in the request URL - time: /);
  });

  test("a watch has none", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const api = await TestApi.start([], { loop });
    let isEnded = false;
    void api.raw("GET", `${MAPS}?watch=true&timeout=1s`).then(async (response) => {
      await wholeBody(response);
      isEnded = true;
    });

    await loop.advance(600_000);

    expect(isEnded).toBe(false);
  });
});
