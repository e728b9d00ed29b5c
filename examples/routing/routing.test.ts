import * as fc from "fast-check";
import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { ConfigMap } from "setpoint/resources";
import { describe, expect, test } from "vitest";
import { INFINITY, Link, Router } from "./network.ts";
import { routing } from "./routing.ts";

describe("routers that know only their neighbours", () => {
  test("find the shortest ways", async () => {
    await using network = await open(["a-b", "b-c", "c-d", "a-d:5"]);

    expect(costs(network, "a")).toEqual({ a: 0, b: 1, c: 2, d: 3 });
  });

  test("find another way after a link is cut", async () => {
    await using network = await open(["a-b", "b-c", "c-d", "a-d:5"]);

    await cut(network, "b-c");

    expect(costs(network, "a")).toEqual({ a: 0, b: 1, c: 6, d: 5 });
    expect(costs(network, "b")).toEqual({ a: 1, b: 0, c: 7, d: 6 });
  });

  test("use a link again once it is back", async () => {
    await using network = await open(["a-b", "b-c"]);
    await cut(network, "b-c");
    expect(costs(network, "a")).toEqual({ a: 0, b: 1 });

    await addLink(network, "b-c");
    await network.settle();

    expect(costs(network, "a")).toEqual({ a: 0, b: 1, c: 2 });
  });

  test("count to infinity without split horizon, and stop there", async () => {
    await using patient = await open(["a-b", "b-c", "c-d"], { splitHorizon: true });
    await using naive = await open(["a-b", "b-c", "c-d"], { splitHorizon: false });

    const [few, many] = [await writesAfterCut(patient, "c-d"), await writesAfterCut(naive, "c-d")];

    expect(costs(naive, "a")).toEqual(costs(patient, "a"));
    expect(few).toBeLessThanOrEqual(5);
    expect(many).toBeGreaterThan(3 * few);
  });

  test("come to rest: nothing is written once the tables agree", async () => {
    await using network = await open(["a-b", "b-c", "a-c"]);
    const before = network.objects(Router);

    await network.clock.advance("24h");

    expect(network.objects(Router)).toEqual(before);
  });

  test("end at the shortest ways after any cuts, in any order of passes", async () => {
    const end = fc.constantFrom("a", "b", "c", "d", "e");
    const link = fc
      .tuple(end, end, fc.integer({ min: 1, max: 3 }))
      .filter(([left, right]) => left < right)
      .map(([left, right, cost]) => `${left}-${right}:${String(cost)}`);
    const links = fc.uniqueArray(link, { selector: (text) => text.split(":")[0], maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(links, fc.nat(8), fc.integer({ min: 1, max: 99 }), async (all, cuts, seed) => {
        await using network = await open(all, { seed });
        for (const one of all.slice(0, cuts)) await network.client(Link).delete({ name: nameOf(one) });
        await network.settle();

        const left = all.slice(cuts);
        for (const router of ROUTERS) expect(costs(network, router)).toEqual(shortest(router, left));
      }),
      { numRuns: 25 },
    );
  });
});

const ROUTERS = ["a", "b", "c", "d", "e"];

interface NetworkOptions {
  readonly seed?: number;
  readonly splitHorizon?: boolean;
}

/** A network whose links are written as `a-b` or `a-b:cost`. */
async function open(links: readonly string[], options: NetworkOptions = {}): Promise<Cluster> {
  const network = await startCluster({
    clock: "virtual",
    seed: options.seed ?? 1,
    loops: "none",
    kinds: [Router, Link],
    controllers: [routing],
  });
  for (const name of ROUTERS)
    await network
      .client(Router)
      .create({ metadata: { name }, spec: { splitHorizon: options.splitHorizon ?? true } });
  for (const link of links) await addLink(network, link);
  await network.settle();
  return network;
}

async function addLink(network: Cluster, link: string): Promise<void> {
  const [ends = "", cost = "1"] = link.split(":");
  const [a = "", b = ""] = ends.split("-");
  await network.client(Link).create({ metadata: { name: nameOf(link) }, spec: { a, b, cost: Number(cost) } });
}

async function cut(network: Cluster, link: string): Promise<void> {
  await network.client(Link).delete({ name: nameOf(link) });
  await network.settle();
}

function nameOf(link: string): string {
  return link.split(":")[0] ?? "";
}

function costs(network: Cluster, router: string): Readonly<Record<string, number>> {
  const routes = network.objects(Router).find(({ metadata }) => metadata.name === router)?.status?.routes;
  return Object.fromEntries((routes ?? []).map(({ to, cost }) => [to, cost]));
}

/** Writes until the network is at rest again, the deletion of the link included. */
async function writesAfterCut(network: Cluster, link: string): Promise<number> {
  const before = await revision(network, "before");
  await cut(network, link);
  return (await revision(network, "after")) - before - 1;
}

/** The store's revision: one more with each write. */
async function revision(network: Cluster, name: string): Promise<number> {
  const marker = await network.client(ConfigMap).create({ metadata: { name } });
  return Number(marker.metadata.resourceVersion);
}

/** Floyd and Warshall's algorithm, which sees the whole map, for comparison. */
function shortest(router: string, links: readonly string[]): Readonly<Record<string, number>> {
  const distance = new Map(ROUTERS.map((name) => [`${name}${name}`, 0]));
  for (const link of links) {
    const [ends = "", cost = "1"] = link.split(":");
    const [a = "", b = ""] = ends.split("-");
    distance.set(a + b, Number(cost)).set(b + a, Number(cost));
  }
  const between = (from: string, to: string): number => distance.get(from + to) ?? INFINITY;
  for (const middle of ROUTERS)
    for (const [from, to] of ROUTERS.flatMap((left) => ROUTERS.map((right) => [left, right] as const))) {
      const cost = between(from, middle) + between(middle, to);
      if (cost < between(from, to)) distance.set(from + to, cost);
    }
  const reached = ROUTERS.filter((to) => between(router, to) < INFINITY);
  return Object.fromEntries(reached.map((to) => [to, between(router, to)]));
}
