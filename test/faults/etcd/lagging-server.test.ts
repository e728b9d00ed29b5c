/** A server whose memory lags behind another server's acknowledged writes: its next client must not notice. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { ServerFixture, textAt, type FixtureReply } from "../../../src/server/upkeep/fixture.ts";
import { put, write } from "../../conformance/store/arrange.ts";
import { EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore, type OpenedStore } from "./open-store.ts";
import { TcpLink } from "./tcp-link.ts";

/** Far above the time of a request. */
const LAG_MS = 150;
const MAPS = "/api/v1/namespaces/default/configmaps";
const SERVICES = "/api/v1/namespaces/default/services";

/** Two servers over one etcd; the second receives everything late from now on. */
class Servers implements AsyncDisposable {
  readonly first: ServerFixture;
  readonly second: ServerFixture;
  readonly #held: readonly AsyncDisposable[];

  private constructor(servers: readonly [ServerFixture, ServerFixture], held: readonly AsyncDisposable[]) {
    [this.first, this.second] = servers;
    this.#held = held;
  }

  static async start(): Promise<Servers> {
    const etcd = await EtcdServer.start();
    const link = await TcpLink.open(etcd.endpoint);
    const options = { requestTimeoutMs: 10_000, proveEveryMs: 60_000 };
    const stores = [
      await openStore(etcd.endpoint, options),
      await openStore(link.endpoint, options),
    ] as const;
    const first = await serve(stores[0]);
    const second = await serve(stores[1]);
    link.lag(LAG_MS);
    return new Servers([first, second], [...stores, link, etcd]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const held of this.#held) await held[Symbol.asyncDispose]();
  }
}

function serve({ store }: OpenedStore): Promise<ServerFixture> {
  return ServerFixture.start({ store, loop: createRealLoop({ name: "server" }), isStoreShared: true });
}

function nodePortService(name: string): object {
  const spec = { type: "NodePort", ports: [{ port: 80 }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
}

function map(name: string, text: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text } };
}

describePeer("etcd", "a server that is behind another one", () => {
  let started: Servers | undefined;
  const servers = (): Servers => {
    if (started === undefined) throw new Error("expected two servers");
    return started;
  };

  beforeAll(async () => {
    started = await Servers.start();
  });
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
  });

  test("changes, replaces and deletes what the other has just made", async () => {
    const { first, second } = servers();
    for (const name of ["a", "b", "c"]) await first.send("POST", MAPS, map(name, "1"));

    const replies = await Promise.all([
      second.patch(`${MAPS}/a`, { data: { text: "2" } }),
      second.send("PUT", `${MAPS}/b`, map("b", "2")),
      second.send("DELETE", `${MAPS}/c`),
    ]);

    expect(replies.map(({ code }) => code)).toEqual([200, 200, 200]);
  });

  test("makes anew what the other has just deleted", async () => {
    const { first, second } = servers();
    await second.send("POST", MAPS, map("again", "1"));
    await first.send("DELETE", `${MAPS}/again`);

    const { code } = await second.send("POST", MAPS, map("again", "2"));

    expect(code).toBe(201);
  });

  test("takes the version that the other has just answered", async () => {
    const { first, second } = servers();
    await second.send("POST", MAPS, map("told", "1"));
    const { body } = await first.patch(`${MAPS}/told`, { data: { text: "2" } });

    const { code } = await second.send("PUT", `${MAPS}/told`, { ...body, data: { text: "3" } });

    expect(code).toBe(200);
  });

  test("writes what is a change to what the other has just written, although to its own memory it is none", async () => {
    const { first, second } = servers();
    await second.send("POST", MAPS, map("back", "old"));
    await first.patch(`${MAPS}/back`, { data: { text: "new" } });

    const { body: answered } = await second.patch(`${MAPS}/back`, { data: { text: "old" } });
    const { body: found } = await first.send("GET", `${MAPS}/back`);

    expect(found).toMatchObject({ data: { text: "old" } });
    expect(found["metadata"]?.["resourceVersion"]).toBe(answered["metadata"]?.["resourceVersion"]);
  });

  test("goes on with a list that the other has just begun", async () => {
    const { first, second } = servers();
    for (const name of ["list-a", "list-b"]) await first.send("POST", MAPS, map(name, "1"));
    const { body } = await first.send("GET", `${MAPS}?limit=1`);
    const token = textAt(body, "metadata", "continue");
    const resourceVersion = textAt(body, "metadata", "resourceVersion");

    const rest = await second.send("GET", `${MAPS}?limit=500&continue=${token}`);

    expect(rest).toMatchObject({ code: 200, body: { metadata: { resourceVersion } } });
  });

  test("fills a namespace that the other has just made", async () => {
    const { first, second } = servers();
    await first.send("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "new" },
    });

    const { code } = await second.send("POST", "/api/v1/namespaces/new/configmaps", map("inside", "1"));

    expect(code).toBe(201);
  });

  test("gives out what the other has just given back", async () => {
    const { first, second } = servers();
    const service = (name: string): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { clusterIP: "10.96.0.77", type: "NodePort", ports: [{ port: 80, nodePort: 30_077 }] },
    });
    await second.send("POST", SERVICES, service("one"));
    await first.send("DELETE", `${SERVICES}/one`);

    const { code } = await second.send("POST", SERVICES, service("two"));

    expect(code).toBe(201);
  });
});

describePeer("etcd", "servers whose user sees the prefix only", () => {
  test("know each other's revisions also without writes there", async () => {
    await using etcd = await EtcdServer.start();
    await etcd.enableAuth([
      { name: "setpoint", password: "swordfish", prefix: "/registry/" },
      { name: "other", password: "other", prefix: "/other/" },
    ]);
    const credentials = { user: "setpoint", password: "swordfish" };
    await using one = await openStore(etcd.endpoint, { credentials });
    await using two = await openStore(etcd.endpoint, { credentials });
    await using foreign = await openStore(etcd.endpoint, {
      prefix: "/other/",
      credentials: { user: "other", password: "other" },
    });
    const [first, second] = [await serve(one), await serve(two)];
    await write(foreign.store, put("/other/a", "1"));

    const { body } = await first.send("GET", MAPS);
    const version = textAt(body, "metadata", "resourceVersion");
    const { code } = await second.send("GET", `${MAPS}?resourceVersion=${version}`);

    expect(Number(version)).toBeGreaterThanOrEqual(foreign.store.view.revision);
    expect(code).toBe(200);
  });
});

describePeer("etcd", "servers that write at the same time", () => {
  test("give every new Service a port of its own, and refuse none because others were faster", async () => {
    await using etcd = await EtcdServer.start();
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(etcd.endpoint)));
    const servers: ServerFixture[] = [];
    for (const opened of stores) servers.push(await serve(opened));

    const replies = await Promise.all(
      servers.map(async (server, place) => {
        const answered: FixtureReply[] = [];
        for (let number = 0; number < 10; number++)
          answered.push(await server.send("POST", SERVICES, nodePortService(`s${place}-${number}`)));
        return answered;
      }),
    );

    const all = replies.flat();
    expect(all.filter(({ code }) => code !== 201)).toEqual([]);
    expect(new Set(all.map(({ body }) => body["spec"]?.["ports"]?.[0]?.["nodePort"])).size).toBe(60);
    expect(new Set(all.map(({ body }) => body["spec"]?.["clusterIP"])).size).toBe(60);
    for (const { store } of stores) await store.close();
  });
});
