import { describe, expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { listAt, ServerFixture, textAt } from "./fixture.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const LEDGER = "/registry/ranges/servicenodeports";
const ADDRESS_KEYS = "/registry/ipaddresses/";
const SERVICE_KEYS = "/registry/services/specs/default/";
/** One round of the repair and the time before the first. */
const ROUND_MS = 200_000;

class House {
  readonly loop = new VirtualLoop({ seed: 1 });
  readonly store: Store = openMemoryStore({ loop: this.loop.child("store") });
  readonly lines: string[] = [];
  readonly #log: Log = { ...silentLog, warn: (message) => void this.lines.push(message) };

  /** Runs the virtual clock until the promise settles. */
  done<T>(promise: Promise<T>): Promise<T> {
    return this.loop.finish(promise);
  }

  start(): Promise<ServerFixture> {
    const { store } = this;
    return this.done(ServerFixture.start({ store, loop: this.loop.child("server"), log: this.#log }));
  }

  /** Runs the upkeep of the server for a while. */
  async keep(server: ServerFixture): Promise<void> {
    const ending = new AbortController();
    const running = server.upkeep.run(ending.signal);
    await this.loop.advance(ROUND_MS);
    ending.abort();
    await this.done(running);
  }

  async createService(server: ServerFixture, name: string, spec: object = {}): Promise<string> {
    const body = { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
    const reply = await this.done(server.send("POST", SERVICES, body));
    expect(reply.code).toBe(201);
    return textAt(reply.body, "spec", "clusterIP");
  }

  async remove(key: string): Promise<void> {
    await this.done(this.store.write({ changes: [{ type: "delete", key }] }));
  }

  /** Edits the stored text of an object, like a foreign server or a restored backup might have left it. */
  async rewrite(key: string, change: (text: string) => string): Promise<void> {
    const text = Buffer.from(this.store.view.get(key)?.value ?? []).toString();
    const value = Buffer.from(change(text));
    await this.done(this.store.write({ changes: [{ type: "put", key, value }] }));
  }
}

describe("repair of addresses", () => {
  test("the repair claims the address of a Service without a claim", async () => {
    const house = new House();
    const server = await house.start();
    const ip = await house.createService(server, "web");
    await house.remove(ADDRESS_KEYS + ip);

    await house.keep(server);

    const { body } = await house.done(server.send("GET", `${ADDRESSES}/${ip}`));
    expect(body["spec"]).toMatchObject({
      parentRef: { resource: "services", namespace: "default", name: "web" },
    });
    expect(house.lines).toEqual(["addresses of Services were repaired"]);
  });

  test("the repair frees an address without a Service", async () => {
    const house = new House();
    const server = await house.start();
    const ip = await house.createService(server, "web");
    await house.remove(`${SERVICE_KEYS}web`);

    await house.keep(server);

    expect((await house.done(server.send("GET", `${ADDRESSES}/${ip}`))).code).toBe(404);
    expect(await house.createService(server, "next", { clusterIP: ip })).toBe(ip);
  });

  test("the repair moves a claim to the Service that has the address", async () => {
    const house = new House();
    const server = await house.start();
    const ip = await house.createService(server, "web");
    await house.rewrite(ADDRESS_KEYS + ip, (text) => text.replace('"name":"web"', '"name":"gone"'));

    await house.keep(server);

    const { body } = await house.done(server.send("GET", `${ADDRESSES}/${ip}`));
    expect(body["spec"]).toMatchObject({ parentRef: { name: "web" } });
  });

  test("the repair logs two Services with one address and changes neither", async () => {
    const house = new House();
    const server = await house.start();
    const ip = await house.createService(server, "one");
    const other = await house.createService(server, "two");
    await house.rewrite(`${SERVICE_KEYS}two`, (text) => text.replaceAll(other, ip));

    await house.keep(server);

    const { body } = await house.done(server.send("GET", `${ADDRESSES}/${ip}`));
    expect(body["spec"]).toMatchObject({ parentRef: { name: "one" } });
    expect(house.lines).toContain("addresses belong to several Services; all but one need another");
  });

  test("the repair leaves a new claim alone: its Service may be about to be created", async () => {
    const house = new House();
    const server = await house.start();
    const ip = await house.createService(server, "web");
    await house.remove(`${SERVICE_KEYS}web`);
    const ending = new AbortController();
    const running = server.upkeep.run(ending.signal);

    await house.loop.advance(30_000);

    expect((await house.done(server.send("GET", `${ADDRESSES}/${ip}`))).code).toBe(200);
    ending.abort();
    await house.done(running);
  });

  test("the repair leaves addresses alone that were not allocated for Services", async () => {
    const house = new House();
    const server = await house.start();
    const parentRef = { group: "gateway.networking.k8s.io", resource: "gateways", namespace: "a", name: "b" };
    const body = { metadata: { name: "192.168.7.7" }, spec: { parentRef } };
    await house.done(server.send("POST", ADDRESSES, body));

    await house.keep(server);

    expect((await house.done(server.send("GET", `${ADDRESSES}/192.168.7.7`))).code).toBe(200);
  });
});

describe("repair of node ports", () => {
  async function nodePort(house: House, server: ServerFixture, name: string): Promise<number> {
    await house.createService(server, name, { type: "NodePort" });
    const { body } = await house.done(server.send("GET", `${SERVICES}/${name}`));
    return listAt<{ nodePort: number }>(body, "spec", "ports")[0]?.nodePort ?? 0;
  }

  test("the repair frees a port without a Service and allocates the port of a Service", async () => {
    const house = new House();
    const server = await house.start();
    const gone = await nodePort(house, server, "gone");
    await house.remove(`${SERVICE_KEYS}gone`);
    const early = house.store.view.get(LEDGER)?.value;
    const kept = await nodePort(house, server, "kept");
    // Restores a ledger that knows only the port of the first Service.
    await house.done(
      house.store.write({ changes: [{ type: "put", key: LEDGER, value: early ?? new Uint8Array() }] }),
    );

    await house.keep(server);

    const asked = (name: string, port: number): object => ({
      metadata: { name },
      spec: { type: "NodePort", ports: [{ port: 80, nodePort: port }] },
    });
    expect((await house.done(server.send("POST", SERVICES, asked("again", kept)))).code).toBe(422);
    expect((await house.done(server.send("POST", SERVICES, asked("next", gone)))).code).toBe(201);
    expect(house.lines).toContain("the ledger of node ports was repaired");
  });

  test("the repair writes nothing while everything is correct", async () => {
    const house = new House();
    const server = await house.start();
    await nodePort(house, server, "web");
    const { revision } = house.store.view;

    await house.keep(server);

    expect(house.store.view.revision).toBe(revision);
    expect(house.lines).toEqual([]);
  });
});
