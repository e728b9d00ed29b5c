import { beforeEach, describe, expect, test } from "vitest";
import { listAt } from "../fixture.ts";
import type { ServerFixture } from "../fixture.ts";
import { SharedStoreFixture } from "../shared-store-fixture.ts";
import type { RunningServer } from "../shared-store-fixture.ts";

const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes";
const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
/** A lease lasts 15 seconds and expires within one more. */
const LEASE_MS = 16_000;
const SOON_MS = 1000;

let world: SharedStoreFixture;

beforeEach(() => {
  world = new SharedStoreFixture();
});

function start(address: string): Promise<ServerFixture> {
  return world.start({ address, isStoreShared: true });
}

function startRunning(address: string): Promise<RunningServer> {
  return world.startRunning({ address, isStoreShared: true });
}

/** Addresses in the Endpoints and the EndpointSlice, which must agree. */
async function told(server: ServerFixture): Promise<readonly string[]> {
  const { body } = await world.done(server.send("GET", ENDPOINTS));
  const [subset] = listAt<{ addresses: { ip: string }[] }>(body, "subsets");
  const addresses = subset?.addresses.map(({ ip }) => ip) ?? [];
  const slice = await world.done(server.send("GET", SLICE));
  const endpoints = listAt<{ addresses: string[] }>(slice.body, "endpoints");
  expect(endpoints.flatMap((endpoint) => endpoint.addresses)).toEqual(addresses);
  return addresses;
}

describe("servers over one store", () => {
  test("the endpoints list all servers while they are alive", async () => {
    const first = await startRunning("10.1.2.9");
    const second = await startRunning("10.1.2.3");

    await world.loop.advance(SOON_MS);
    const early = await told(first.server);
    await world.loop.advance(600_000);

    expect(early).toEqual(["10.1.2.3", "10.1.2.9"]);
    expect(await told(first.server)).toEqual(early);
    await first.end();
    await second.end();
  });

  test("the endpoints drop a stopping server at once", async () => {
    const first = await startRunning("10.1.2.3");
    const second = await startRunning("10.1.2.9");
    await world.loop.advance(SOON_MS);

    await second.end();
    await world.loop.advance(SOON_MS);

    expect(await told(first.server)).toEqual(["10.1.2.3"]);
    await first.end();
  });

  test("the endpoints drop a dead server after its lease expires", async () => {
    const living = await startRunning("10.1.2.3");
    await start("10.1.2.9");
    await world.loop.advance(LEASE_MS - 2000);
    const before = await told(living.server);

    await world.loop.advance(2000 + SOON_MS);

    expect(before).toEqual(["10.1.2.3", "10.1.2.9"]);
    expect(await told(living.server)).toEqual(["10.1.2.3"]);
    await living.end();
  });

  test("the endpoints keep the last server that stops", async () => {
    const only = await startRunning("10.1.2.3");

    await only.end();
    await world.loop.advance(LEASE_MS);

    expect(await told(only.server)).toEqual(["10.1.2.3"]);
  });

  test("the endpoints are restored after a client changes them", async () => {
    const first = await startRunning("10.1.2.3");
    const second = await startRunning("10.1.2.9");
    await world.loop.advance(SOON_MS);

    await world.done(first.server.patch(ENDPOINTS, { subsets: [] }));
    await world.done(first.server.patch(SLICE, { endpoints: [] }));
    await world.loop.advance(SOON_MS);

    expect(await told(second.server)).toEqual(["10.1.2.3", "10.1.2.9"]);
    await first.end();
    await second.end();
  });

  test("servers with one address share its lease", async () => {
    const first = await startRunning("10.1.2.3");
    const second = await startRunning("10.1.2.3");
    await world.loop.advance(SOON_MS);

    await second.end();
    await world.loop.advance(LEASE_MS);

    expect(await told(first.server)).toEqual(["10.1.2.3"]);
    expect(world.store.view.get("/registry/masterleases/10.1.2.3")).toBeDefined();
    await first.end();
  });

  test("the endpoints omit servers of another address family", async () => {
    const first = await startRunning("10.1.2.3");
    const value = Buffer.from("{}");
    await world.done(
      world.store.write({ changes: [{ type: "put", key: "/registry/masterleases/fd00::1", value }] }),
    );

    await world.loop.advance(SOON_MS);

    expect(await told(first.server)).toEqual(["10.1.2.3"]);
    await first.end();
  });
});

test("a server with a store of its own writes no lease", async () => {
  await world.start({});

  expect(world.store.view.count("/registry/masterleases/", "/registry/masterleases0")).toBe(0);
});
