import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { loop, makeAuthority, openEgressFixture, serve } from "../../../egress/fixture.ts";
import type { WebhookOptions } from "../authorization-options.ts";
import { asked, user } from "../fixture.ts";
import { WebhookAuthorizer } from "./webhook-authorizer.ts";

interface Review {
  readonly kind: string;
  readonly spec: {
    readonly user?: string;
    readonly resourceAttributes?: Readonly<Record<string, unknown>>;
  };
}

async function bodyOf(request: IncomingMessage): Promise<Review> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as Review;
}

interface Asked {
  readonly authorizer: WebhookAuthorizer;
  readonly reviews: Review[];
}

/** A webhook that responds with these statuses in turn. */
async function open(statuses: readonly object[], options: Partial<WebhookOptions> = {}): Promise<Asked> {
  const authority = await makeAuthority("test");
  const reviews: Review[] = [];
  const { port } = await serve(await authority.leaf(["127.0.0.1"]), (request, response) => {
    void bodyOf(request).then((review) => {
      const status = statuses[reviews.length] ?? { allowed: false };
      reviews.push(review);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...review, status }));
    });
  });
  const { egress } = openEgressFixture();
  const authorizer = new WebhookAuthorizer(
    {
      name: "w",
      url: `https://127.0.0.1:${port}/authorize`,
      ca: authority.cert,
      pair: undefined,
      headers: {},
      version: "v1",
      timeoutMs: 5000,
      authorizedTtlMs: 60_000,
      unauthorizedTtlMs: 0,
      onFailure: "no opinion",
      matchConditions: [],
      ...options,
    },
    { loop, egress },
  );
  return { authorizer, reviews };
}

const BOB = user("bob", "dev");

describe("an authorization webhook", () => {
  test("receives all attributes, and its approval is cached", async () => {
    const { authorizer, reviews } = await open([{ allowed: true, reason: "because" }]);
    const question = asked(BOB, "list", {
      namespace: "a",
      fieldSelector: "spec.nodeName=n1",
      labelSelector: "x,y!=z",
    });

    expect(await authorizer.decide(question)).toEqual({ outcome: "allowed", reason: "because" });
    expect(authorizer.decide(question)).toEqual({ outcome: "allowed", reason: "because" });
    expect(reviews).toHaveLength(1);
    expect(reviews[0]?.spec).toEqual({
      user: "bob",
      groups: ["dev"],
      resourceAttributes: {
        namespace: "a",
        verb: "list",
        version: "v1",
        resource: "pods",
        fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n1"] }] },
        labelSelector: {
          requirements: [
            { key: "x", operator: "Exists" },
            { key: "y", operator: "NotIn", values: ["z"] },
          ],
        },
      },
    });
  });

  test("may deny or have no opinion, and is asked again if that is not cached", async () => {
    const { authorizer, reviews } = await open([
      { allowed: false, denied: true, reason: "no" },
      { allowed: false },
    ]);

    expect(await authorizer.decide(asked(BOB, "get"))).toEqual({ outcome: "denied", reason: "no" });
    expect(await authorizer.decide(asked(BOB, "get"))).toEqual({ outcome: "no opinion", reason: "" });
    expect(reviews).toHaveLength(2);
  });

  test("that allows and denies at once has failed", async () => {
    const { authorizer } = await open([{ allowed: true, denied: true }], { onFailure: "denied" });

    expect(await authorizer.decide(asked(BOB, "get"))).toMatchObject({
      outcome: "denied",
      error: 'webhook "w": webhook subject access review returned both allow and deny response',
    });
  });

  test("is asked only about questions that meet its conditions", async () => {
    const conditions = ["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'a'"];
    const { authorizer, reviews } = await open([{ allowed: true }], { matchConditions: conditions });

    expect(authorizer.decide(asked(BOB, "get", { path: "/metrics" }))).toMatchObject({
      outcome: "no opinion",
    });
    expect(authorizer.decide(asked(BOB, "get", { namespace: "b" }))).toMatchObject({ outcome: "no opinion" });
    expect(await authorizer.decide(asked(BOB, "get", { namespace: "a" }))).toMatchObject({
      outcome: "allowed",
    });
    expect(reviews).toHaveLength(1);
  });

  test("with a condition that fails to evaluate has failed", async () => {
    const { authorizer } = await open([], { matchConditions: ["request.extra['team'][0] == 'a'"] });

    const { outcome, error } = await authorizer.decide(asked(BOB, "get"));

    expect(outcome).toBe("no opinion");
    expect(error).toContain('webhook "w": ');
  });
});
