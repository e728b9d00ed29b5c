import { describe, expect, test } from "vitest";
import { accessDecider } from "./access-decider.ts";
import { alwaysAllow, alwaysDeny } from "./always-allow.ts";
import { authorizerChain } from "./authorization.ts";
import type { AccessDecision, Authorizer } from "./authorizer.ts";
import { asked, user } from "./fixture.ts";

function says(decision: AccessDecision): Authorizer {
  return { decide: () => decision };
}

function saysLater(decision: AccessDecision): Authorizer {
  return { decide: () => Promise.resolve(decision) };
}

const DENIED: AccessDecision = { outcome: "denied", reason: "no" };
const ALLOWED: AccessDecision = { outcome: "allowed", reason: "yes" };
const question = asked(user("bob"), "get");

describe("several authorizers", () => {
  test.each([
    [[DENIED, ALLOWED], DENIED],
    [[ALLOWED, DENIED], ALLOWED],
    [
      [
        { outcome: "no opinion", reason: "a" },
        { outcome: "no opinion", reason: "" },
        { outcome: "no opinion", reason: "b", error: "e" },
      ],
      { outcome: "no opinion", reason: "a\nb", error: "e" },
    ],
    [[], { outcome: "no opinion", reason: "" }],
  ] as const)("the first with an opinion decides: %#", async (members, expected) => {
    expect(authorizerChain(members.map(says)).decide(question)).toEqual(expected);
    expect(await authorizerChain(members.map(saysLater)).decide(question)).toEqual(expected);
  });

  test("synchronous and asynchronous authorizers are asked in order", async () => {
    const chain = authorizerChain([
      says({ outcome: "no opinion", reason: "first" }),
      saysLater({ outcome: "no opinion", reason: "second" }),
      says({ outcome: "no opinion", reason: "third" }),
    ]);

    expect((await chain.decide(question)).reason).toBe("first\nsecond\nthird");
  });

  test("no authorizer is asked about system:masters", () => {
    const chain = authorizerChain([alwaysDeny]);

    expect(chain.decide(asked(user("root", "system:masters"), "get"))).toEqual({
      outcome: "allowed",
      reason: "",
    });
    expect(chain.decide(question)).toEqual({ outcome: "no opinion", reason: "Everything is forbidden." });
  });
});

describe("a permission check of an expression", () => {
  const blank = {
    verb: "get",
    path: "",
    group: "",
    resource: "pods",
    subresource: "",
    namespace: "a",
    name: "",
    fieldSelector: "",
    labelSelector: "",
    serviceAccount: undefined,
  };

  test("gets synchronous decisions, and an error for others", () => {
    const bob = user("bob");

    expect(accessDecider(alwaysAllow, bob).decide(blank)).toEqual({ isAllowed: true, reason: "" });
    expect(accessDecider(says(DENIED), bob).decide(blank)).toEqual({ isAllowed: false, reason: "no" });
    expect(accessDecider(saysLater(ALLOWED), bob).decide(blank)).toMatchObject({
      isAllowed: false,
      error: "the answer of an authorization webhook is not known yet",
    });
  });

  test("may name a service account, which has its groups", () => {
    const groups: (readonly string[])[] = [];
    const decider = accessDecider(
      {
        decide: ({ user: who }) => {
          groups.push([who.name, ...who.groups]);
          return ALLOWED;
        },
      },
      user("bob"),
    );

    decider.decide({ ...blank, serviceAccount: { namespace: "n", name: "robot" } });

    expect(groups).toEqual([
      [
        "system:serviceaccount:n:robot",
        "system:serviceaccounts",
        "system:serviceaccounts:n",
        "system:authenticated",
      ],
    ]);
  });
});
