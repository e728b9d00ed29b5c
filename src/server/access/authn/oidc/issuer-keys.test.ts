import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import { VirtualLoop } from "../../../../base/loop/virtual/virtual-loop.ts";
import { EgressError } from "../../../egress/egress.ts";
import type { Egress } from "../../../egress/egress.ts";
import { signToken, otherKey } from "../fixture.ts";
import { IssuerKeys } from "./issuer-keys.ts";

const URL = "https://issuer.example";

/** An issuer with the keys that the test sets. */
class MemoryIssuer {
  keys: ReadonlyMap<string, KeyObject> = new Map();
  isReachable = true;
  fetches = 0;

  readonly egress: Egress = {
    resolve: () => {
      throw new EgressError("unexpected call of resolve");
    },
    call: ({ target }) => {
      if (!this.isReachable) return Promise.reject(new EgressError("connection refused"));
      const isConfiguration = target.type === "url" && target.url.endsWith("/openid-configuration");
      if (!isConfiguration) this.fetches += 1;
      const value = isConfiguration ? { issuer: URL, jwks_uri: `${URL}/keys` } : { keys: this.#published() };
      return Promise.resolve({ status: 200, headers: new Map(), body: Buffer.from(JSON.stringify(value)) });
    },
  };

  #published(): readonly object[] {
    return [...this.keys].map(([kid, key]) => ({ ...createPublicKey(key).export({ format: "jwk" }), kid }));
  }
}

function world(): {
  loop: VirtualLoop;
  issuer: MemoryIssuer;
  isGood: (token: string) => Promise<boolean | string>;
} {
  const loop = new VirtualLoop({ seed: 1, outside: ["crypto"] });
  const issuer = new MemoryIssuer();
  const discoveryUrl = `${URL}/.well-known/openid-configuration`;
  const keys = new IssuerKeys(
    { url: URL, discoveryUrl, audiences: ["me"], ca: undefined },
    { loop, egress: issuer.egress },
  );
  const isGood = (token: string): Promise<boolean | string> =>
    loop.finish(keys.hasSigned(token, ["ES256"]).catch((error: unknown) => (error as Error).message));
  return { loop, issuer, isGood };
}

function signed(key: KeyObject, kid?: string): string {
  const header = kid === undefined ? { alg: "ES256" } : { alg: "ES256", kid };
  return signToken(header, { iss: URL }, { type: "key", key });
}

test("a new key is fetched, at most every ten seconds", async () => {
  const { loop, issuer, isGood } = world();
  const [first, second] = [otherKey(), otherKey()];
  issuer.keys = new Map([["a", first]]);
  const before = await isGood(signed(first, "a"));
  issuer.keys = new Map([["b", second]]);

  const tooSoon = await isGood(signed(second, "b"));
  await loop.advance(10_001);
  const later = await isGood(signed(second, "b"));

  expect([before, tooSoon, later]).toEqual([true, false, true]);
  expect(await isGood(signed(first, "a"))).toBe(false);
  expect(issuer.fetches).toBe(2);
});

test("withdrawn keys are dropped after an hour, and stay while the issuer is unreachable", async () => {
  const { loop, issuer, isGood } = world();
  const [first, second] = [otherKey(), otherKey()];
  issuer.keys = new Map([["a", first]]);
  await isGood(signed(first, "a"));
  issuer.keys = new Map([["b", second]]);

  issuer.isReachable = false;
  await loop.advance(3_600_001);
  const unreachable = await isGood(signed(first, "a"));
  issuer.isReachable = true;
  await loop.advance(10_001);

  expect(unreachable).toBe(true);
  expect(await isGood(signed(first, "a"))).toBe(false);
});

test("a token without a key ID is accepted if one of several keys signed it", async () => {
  const { issuer, isGood } = world();
  const [first, second] = [otherKey(), otherKey()];
  issuer.keys = new Map([
    ["a", first],
    ["b", second],
  ]);

  expect(await isGood(signed(second))).toBe(true);
  expect(await isGood(signed(otherKey()))).toBe(false);
});

test("an unreachable issuer is retried later", async () => {
  const { loop, issuer, isGood } = world();
  const key = otherKey();
  issuer.keys = new Map([["a", key]]);
  issuer.isReachable = false;

  const first = await isGood(signed(key, "a"));
  issuer.isReachable = true;
  const second = await isGood(signed(key, "a"));
  await loop.advance(10_001);

  expect([first, second]).toEqual(["connection refused", "connection refused"]);
  expect(await isGood(signed(key, "a"))).toBe(true);
});
