import { describe, expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { Egress, EgressReply } from "./egress.ts";
import { EgressError } from "./egress.ts";
import { makeAuthority, openEgressFixture, serve } from "./fixture.ts";
import { askReview } from "./review-call.ts";

const SERVER = { url: "https://127.0.0.1", ca: undefined, pair: undefined, headers: {}, timeoutMs: 5000 };

interface Outcome {
  readonly calls: number;
  readonly tookMs: number;
  readonly answer: number | string;
}

/** The result of a review whose server gives these responses in turn; the last one repeats. */
async function ask(answers: readonly (EgressReply | Error)[]): Promise<Outcome> {
  const loop = new VirtualLoop({ seed: 1 });
  const begin = loop.now();
  let calls = 0;
  const egress: Pick<Egress, "call"> = {
    call: () => {
      const answer = answers[Math.min(calls, answers.length - 1)];
      calls += 1;
      return answer instanceof Error || answer === undefined
        ? Promise.reject(answer)
        : Promise.resolve(answer);
    },
  };
  const asking = askReview({ loop, egress: egress as Egress }, SERVER, "{}").then(
    ({ status }) => status,
    (error: unknown) => (error as Error).message,
  );
  const answer = await loop.finish(asking);
  return { calls, tookMs: loop.now() - begin, answer };
}

function reply(status: number, headers: Readonly<Record<string, string>> = {}): EgressReply {
  return { status, headers: new Map(Object.entries(headers)), body: new Uint8Array() };
}

function broken(code: string): Error {
  return new EgressError("x", { cause: Object.assign(new Error("y"), { code }) });
}

describe("a review", () => {
  test.each([
    ["an internal error", reply(500)],
    ["a gateway timeout", reply(504)],
    ["too many requests", reply(429)],
    ["a Retry-After header", reply(503, { "retry-after": "1" })],
    ["a reset connection", broken("ECONNRESET")],
  ])("is retried after %s", async (_, trouble) => {
    expect(await ask([trouble, trouble, reply(200)])).toEqual({ calls: 3, tookMs: 1250, answer: 200 });
  });

  test("is tried at most five times", async () => {
    expect(await ask([reply(500)])).toMatchObject({ calls: 5, answer: "answered with code 500" });
  });

  test.each([
    ["no service", reply(503), "answered with code 503"],
    ["a bad gateway", reply(502), "answered with code 502"],
    ["a refusal", reply(403), "answered with code 403"],
    ["a refused connection", broken("ECONNREFUSED"), "x"],
    ["an untrusted certificate", broken("DEPTH_ZERO_SELF_SIGNED_CERT"), "x"],
  ])("is not retried after %s", async (_, trouble, answer) => {
    expect(await ask([trouble])).toEqual({ calls: 1, tookMs: 0, answer });
  });

  test("is retried or not by the way a real connection ends", async () => {
    const authority = await makeAuthority("test");
    let calls = 0;
    const { port } = await serve(await authority.leaf(["127.0.0.1"]), (request, response) => {
      calls += 1;
      if (calls === 1) request.socket.destroy();
      else response.end("{}");
    });
    const { egress } = openEgressFixture();
    const server = { ...SERVER, url: `https://127.0.0.1:${String(port)}/`, ca: authority.cert };

    const { status } = await askReview({ loop: createRealLoop({ name: "test" }), egress }, server, "{}");

    expect([status, calls]).toEqual([200, 2]);
  });

  test.each([
    [30_000, "30s"],
    [1500, "1.5s"],
    [500, "500ms"],
  ])("with a timeout of %s ms tells the webhook %s", async (timeoutMs, told) => {
    const paths: string[] = [];
    const egress: Pick<Egress, "call"> = {
      call: ({ path }) => {
        paths.push(path);
        return Promise.resolve(reply(200));
      },
    };

    await askReview(
      { loop: new VirtualLoop({ seed: 1 }), egress: egress as Egress },
      { ...SERVER, timeoutMs },
      "{}",
    );

    expect(paths).toEqual([`?timeout=${told}`]);
  });
});
