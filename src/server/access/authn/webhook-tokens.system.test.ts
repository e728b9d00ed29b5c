import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { loop, makeAuthority, openEgressFixture, serve } from "../../egress/fixture.ts";
import type { TokenAuthenticator } from "./authenticator.ts";
import { VerificationGate } from "./verification-gate.ts";
import { webhookTokens } from "./webhook-tokens.ts";

interface Asked {
  readonly tokens: TokenAuthenticator;
  /** The reviews that it received. */
  readonly reviews: unknown[];
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}

/** A webhook that responds with these statuses in turn. */
async function open(statuses: readonly object[], ttlMs = 60_000): Promise<Asked> {
  const authority = await makeAuthority("test");
  const reviews: unknown[] = [];
  const { port } = await serve(await authority.leaf(["127.0.0.1"]), (request, response) => {
    void bodyOf(request).then((review) => {
      const status = statuses[reviews.length] ?? {};
      reviews.push(review);
      response.end(JSON.stringify({ kind: "TokenReview", status }));
    });
  });
  const { egress } = openEgressFixture();
  const server = {
    url: `https://127.0.0.1:${String(port)}/tokens`,
    ca: authority.cert,
    pair: undefined,
    headers: {},
    timeoutMs: 5000,
    version: "v1" as const,
    ttlMs,
  };
  const parts = { loop, egress, gate: new VerificationGate(), audiences: ["api"], key: Buffer.alloc(32) };
  return { tokens: webhookTokens(server, parts), reviews };
}

const ALICE = {
  authenticated: true,
  user: { username: "alice", uid: "u1", groups: ["dev"], extra: { a: ["b"] } },
};

describe("a token webhook", () => {
  test("identifies the token's user, and its answer is cached", async () => {
    const { tokens, reviews } = await open([ALICE]);
    const alice = {
      type: "bearer",
      user: { name: "alice", uid: "u1", groups: ["dev", "system:authenticated"], extra: { a: ["b"] } },
      audiences: ["api"],
    };

    expect(await tokens.find("hush", ["api"])).toEqual(alice);
    expect(tokens.find("hush", ["api"])).toEqual(alice);
    expect(reviews).toEqual([
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: {},
        spec: { token: "hush", audiences: ["api"] },
        status: { user: {} },
      },
    ]);
  });

  test("may not know the token, which is cached too, or give a reason", async () => {
    const { tokens, reviews } = await open([
      { authenticated: false },
      { error: "too old" },
      { error: "too old" },
    ]);

    expect(await tokens.find("a", ["api"])).toBeUndefined();
    expect(tokens.find("a", ["api"])).toBeUndefined();
    expect(await tokens.find("b", ["api"])).toEqual({ type: "refused", reason: "too old" });
    expect(await tokens.find("b", ["api"])).toEqual({ type: "refused", reason: "too old" });
    expect(reviews).toHaveLength(3);
  });

  test("names the token's audiences; without any, the token is for this server", async () => {
    const { tokens } = await open([
      { ...ALICE, audiences: ["vault"] },
      ALICE,
      { ...ALICE, audiences: ["vault", "api"] },
    ]);

    expect(await tokens.find("a", ["api"])).toBeUndefined();
    expect(await tokens.find("a", ["vault"])).toBeUndefined();
    expect(await tokens.find("b", ["vault"])).toMatchObject({ audiences: ["vault"] });
  });

  test("is asked each time if the cache is off", async () => {
    const { tokens, reviews } = await open([ALICE, ALICE], 0);

    await tokens.find("a", ["api"]);
    await tokens.find("a", ["api"]);

    expect(reviews).toHaveLength(2);
  });

  test("is asked once for concurrent requests with the same token", async () => {
    const { tokens, reviews } = await open([ALICE, ALICE, ALICE], 0);
    const ask = (token: string): unknown => tokens.find(token, ["api"]);

    const [first, ...others] = await Promise.all([ask("a"), ask("a"), ask("b"), ask("a")]);
    const askedAtOnce = reviews.length;
    await ask("a");

    expect(others).toEqual([first, first, first]);
    expect([askedAtOnce, reviews.length]).toEqual([2, 3]);
  });

  test("with a malformed response knows no token", async () => {
    const authority = await makeAuthority("test");
    const { port } = await serve(await authority.leaf(["127.0.0.1"]), (_, response) => response.end("[]"));
    const { egress } = openEgressFixture();
    const url = `https://127.0.0.1:${String(port)}/`;
    const server = { url, ca: authority.cert, pair: undefined, headers: {}, timeoutMs: 5000 };
    const parts = { loop, egress, gate: new VerificationGate(), audiences: ["api"], key: Buffer.alloc(32) };
    const tokens = webhookTokens({ ...server, version: "v1", ttlMs: 0 }, parts);

    expect(await tokens.find("a", ["api"])).toEqual({
      type: "refused",
      reason: "the response is no TokenReview",
    });
  });
});
