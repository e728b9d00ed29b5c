import { beforeEach, describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { PodTokens } from "./pod-tokens.ts";
import type { VolumeSources } from "./volume-sources.ts";

const POD = incomplete<Pod>({ metadata: { name: "web", namespace: "shop", uid: "1" }, spec: {} });
const SECOND = 1000;

type Requested = Parameters<VolumeSources["requestToken"]>;

describe("the token of a pod", () => {
  let now: number;
  let requested: Requested[];
  let lifeSeconds: number;
  let problem: Error | undefined;
  let tokens: PodTokens;

  beforeEach(() => {
    now = Date.parse("2026-05-01T12:00:00Z");
    requested = [];
    lifeSeconds = 1000;
    problem = undefined;
    tokens = new PodTokens(() => now);
  });

  const sources = {
    requestToken: async (...request: Requested) => {
      if (problem !== undefined) throw problem;
      const expirationTimestamp = new Date(now + lifeSeconds * SECOND).toISOString();
      return { token: `token ${String(requested.push(request))}`, expirationTimestamp };
    },
  };

  function find(audience?: string): Promise<string> {
    return tokens.find(POD, { path: "token", ...(audience !== undefined && { audience }) }, sources);
  }

  test("is one of the pod's service account, bound to the pod", async () => {
    await find("vault");

    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "web", uid: "1" };
    expect(requested).toEqual([
      [
        { namespace: "shop", name: "default" },
        { audiences: ["vault"], expirationSeconds: 3600, boundObjectRef },
      ],
    ]);
  });

  test("is replaced after four fifths of its life", async () => {
    expect(await find()).toBe("token 1");
    now += 799 * SECOND;
    expect(await find()).toBe("token 1");
    now += SECOND;
    expect(await find()).toBe("token 2");
  });

  test("is replaced after a day, however long it lives", async () => {
    lifeSeconds = 10_000_000;
    await find();
    now += 86_400 * SECOND;
    expect(await find()).toBe("token 2");
  });

  test("serves on while no new one can be had, until it expires", async () => {
    await find();
    problem = new Error("no server");
    now += 999 * SECOND;
    expect(await find()).toBe("token 1");
    now += SECOND;
    await expect(find()).rejects.toThrow("no server");
  });

  test("is another one for each audience, and forgotten with the pod", async () => {
    expect([await find(), await find("vault"), await find()]).toEqual(["token 1", "token 2", "token 1"]);
    tokens.forget("1");
    expect(await find()).toBe("token 3");
  });
});
