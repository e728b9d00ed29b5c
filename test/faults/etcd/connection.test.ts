import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log/log.ts";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { codeOf, put, text, write } from "../../conformance/store/arrange.ts";
import { EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore } from "./open-store.ts";
import { TcpLink } from "./tcp-link.ts";

const KEY = "/registry/things/a";

describePeer("etcd", "the connection to etcd", () => {
  describe("TLS", () => {
    test("a client with a certificate is served, one without is told why not", async () => {
      await using server = await EtcdServer.start({ tls: true });
      const { ca, cert, key } = server.certificates ?? {};
      if (ca === undefined || cert === undefined || key === undefined)
        throw new Error("expected certificates");
      await using opened = await openStore(server.endpoint, { tls: { ca, cert, key } });

      await write(opened.store, put(KEY, "secret"));

      expect(text((await opened.store.fresh()).get(KEY))).toBe("secret");
      const trustless = openStore(server.endpoint, { tls: { cert, key }, openTimeoutMs: 200 });
      await expect(trustless).rejects.toThrow(/Unavailable|certificate/);
      expect(await codeOf(() => openStore(server.endpoint, { tls: { ca }, openTimeoutMs: 200 }))).toBe(
        "Unavailable",
      );
    });
  });

  describe("users", () => {
    const credentials = { user: "setpoint", password: "swordfish" };

    test("a password signs in, also after etcd has forgotten the token", async () => {
      await using server = await EtcdServer.start();
      await server.enableAuth([{ name: "setpoint", password: "swordfish", prefix: "/" }]);
      await using opened = await openStore(server.endpoint, { credentials });
      const { store } = opened;
      await write(store, put(KEY, "1"));

      await server.kill();
      await server.start();

      await expect.poll(() => codeOf(() => write(store, put(KEY, "2")))).toBe("none");
      await expect.poll(() => store.health().state).toBe("ready");
      expect(text((await store.fresh()).get(KEY))).toBe("2");
    });

    test("all calls whose token etcd has forgotten go on after signing in once", async () => {
      await using server = await EtcdServer.start();
      await server.enableAuth([{ name: "setpoint", password: "swordfish", prefix: "/" }]);
      await using opened = await openStore(server.endpoint, { credentials, requestTimeoutMs: 5_000 });
      const { token } = await server.call("/v3/auth/authenticate", { name: "root", password: "root" });
      await server.call("/v3/auth/disable", {}, String(token));
      await server.call("/v3/auth/enable", {});

      const codes = await Promise.all(
        Array.from({ length: 300 }, (_, index) =>
          codeOf(() => write(opened.store, put(`${KEY}${String(index)}`, "1"))),
        ),
      );

      expect(new Set(codes)).toEqual(new Set(["none"]));
    });

    test("a password does no harm while etcd asks for none, and serves when it does again", async () => {
      await using server = await EtcdServer.start();
      await using opened = await openStore(server.endpoint, { credentials });
      const { store } = opened;
      const canWrite = (): Promise<string> => codeOf(() => write(store, put(KEY, "1")));
      const before = await canWrite();

      await server.enableAuth([{ name: "setpoint", password: "swordfish", prefix: "/" }]);
      await expect.poll(canWrite).toBe("none");
      await expect.poll(() => store.health().state).toBe("ready");
      const { token } = await server.call("/v3/auth/authenticate", { name: "root", password: "root" });
      await server.call("/v3/auth/disable", {}, String(token));

      expect(before).toBe("none");
      await expect.poll(canWrite).toBe("none");
      await expect.poll(() => store.health().state).toBe("ready");
      expect(await codeOf(() => store.fresh())).toBe("none");
    });

    test("a wrong password is told at once", async () => {
      await using server = await EtcdServer.start();
      await server.enableAuth([{ name: "setpoint", password: "swordfish", prefix: "/" }]);

      const opening = openStore(server.endpoint, {
        credentials: { user: "setpoint", password: "guess" },
        openTimeoutMs: 20_000,
      });

      await expect(opening).rejects.toThrow(/invalid user ID or password/);
    });

    test("who may touch the prefix only has a whole store there", async () => {
      await using server = await EtcdServer.start();
      await server.enableAuth([
        { name: "setpoint", password: "swordfish", prefix: "/registry/" },
        { name: "other", password: "other", prefix: "/other/" },
      ]);
      await using mine = await openStore(server.endpoint, { credentials });
      await using second = await openStore(server.endpoint, { credentials });
      await using foreign = await openStore(server.endpoint, {
        prefix: "/other/",
        credentials: { user: "other", password: "other" },
      });
      const revision = await write(mine.store, put(KEY, "1"));
      const foreignRevision = await write(foreign.store, put("/other/a", "x"));

      const fresh = await second.store.fresh();

      expect(text(fresh.get(KEY))).toBe("1");
      expect(fresh.revision).toBeGreaterThanOrEqual(foreignRevision);
      expect(text((await second.store.at(fresh.revision, KEY)).get(KEY))).toBe("1");
      expect(
        await codeOf(() =>
          second.store.write({ compare: [{ key: KEY, modRevision: 0 }], changes: [put(KEY, "2")] }),
        ),
      ).toBe("ConditionFailed");
      expect(second.store.accepted.get(KEY)?.modRevision).toBe(revision);
      expect(await codeOf(() => write(mine.store, put("/other/a", "y")))).toBe("InvalidTransaction");
      expect(mine.store.health()).toEqual({ state: "ready" });
    });
  });

  describe("endpoints", () => {
    test("one that is down is passed over, whichever it is", async () => {
      await using server = await EtcdServer.start();
      await using first = await TcpLink.open(server.endpoint);
      await using second = await TcpLink.open(server.endpoint);
      first.cut();
      await using opened = await openStore([first.endpoint, second.endpoint]);
      const { store } = opened;
      await write(store, put(KEY, "1"));

      first.mend();
      second.cut();

      await expect.poll(() => codeOf(() => write(store, put(KEY, "2")))).toBe("none");
      await expect.poll(() => store.health().state).toBe("ready");
      expect(text((await store.fresh()).get(KEY))).toBe("2");
    });

    test("servers spread over all of them", async () => {
      await using server = await EtcdServer.start();
      await using first = await TcpLink.open(server.endpoint);
      await using second = await TcpLink.open(server.endpoint);
      await using third = await TcpLink.open(server.endpoint);
      const links = [first, second, third];
      const endpoints = links.map(({ endpoint }) => endpoint);

      for (let seed = 0; seed < 8; seed++) {
        await using opened = await openStore(endpoints, { loop: createRealLoop({ name: "store", seed }) });
        await write(opened.store, put(KEY, "1"));
      }

      expect(links.map(({ accepted }) => accepted > 0)).toEqual([true, true, true]);
    });

    test("a store opens although the connection breaks again and again meanwhile", async () => {
      await using server = await EtcdServer.start();
      await using link = await TcpLink.open(server.endpoint);
      await using other = await openStore(server.endpoint);
      await other.store.compact(await write(other.store, put(KEY, "1")));

      for (let round = 0; round < 10; round += 1) {
        let isOpening = true;
        const breaking = (async () => {
          for (let cut = 0; cut < 10 && isOpening; cut += 1) {
            // Each round cuts at another moment of the opening.
            await delay(5 + 3 * round);
            link.mend();
          }
        })();
        await using opened = await openStore(link.endpoint, { openTimeoutMs: 15_000 });
        isOpening = false;
        await breaking;
        expect(text(opened.store.view.get(KEY))).toBe("1");
      }
    });

    test("that are away are not waited for any more once the program shall end", async () => {
      const ending = new AbortController();
      const log = { ...silentLog, warn: () => ending.abort() };
      const options = { openTimeoutMs: 3_600_000, signal: ending.signal, log };

      // No process listens on port 1.
      expect(await codeOf(() => openStore("http://127.0.0.1:1", options))).toBe("Unavailable");
    });

    test("a read asks another one when the first stays silent", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      const revision = await write(writer.store, put(KEY, "1"));
      await write(writer.store, put(KEY, "2"));
      await using first = await TcpLink.open(server.endpoint);
      await using opened = await openStore([first.endpoint, server.endpoint], { proveEveryMs: 60_000 });

      first.deafen();
      const past = await opened.store.at(revision, KEY);

      expect(text(past.get(KEY))).toBe("1");
    });

    test("when one stays silent, the watch leaves it with the first write that got no answer", async () => {
      await using server = await EtcdServer.start();
      await using link = await TcpLink.open(server.endpoint);
      const endpoints = [link.endpoint, server.endpoint];
      await using opened = await openStore(endpoints, { proveEveryMs: 60_000, requestTimeoutMs: 500 });
      const { store } = opened;
      link.deafen();

      const codes = [
        await codeOf(() => write(store, put(KEY, "1"))),
        await codeOf(() => write(store, put(KEY, "2"))),
      ];

      expect(codes).toEqual(["OutcomeUnknown", "none"]);
    });

    test.each(["", "localhost", "ftp://localhost:1", "http://localhost:1/path"])(
      "%j is refused",
      async (endpoint) => {
        expect(await codeOf(() => openStore(endpoint))).toBe("Unavailable");
      },
    );
  });

  describe("failures", () => {
    test("a write that was not sent is Unavailable, quickly", async () => {
      await using server = await EtcdServer.start();
      await using opened = await openStore(server.endpoint);
      await server.kill();
      await expect.poll(() => opened.store.health().state).toBe("degraded");

      expect(await codeOf(() => write(opened.store, put(KEY, "1")))).toBe("Unavailable");
      expect(await codeOf(() => opened.store.fresh())).toBe("Unavailable");
      expect(opened.store.health().reason).toMatch(/no watch on etcd: ./);
    });

    test("a write whose answer got lost has an unknown outcome, and shows up if it happened", async () => {
      await using server = await EtcdServer.start();
      await using link = await TcpLink.open(server.endpoint);
      await using opened = await openStore(link.endpoint);
      const { store } = opened;
      link.deafen();

      expect(await codeOf(() => write(store, put(KEY, "1")))).toBe("OutcomeUnknown");
      expect(store.view.get(KEY)).toBeUndefined();

      link.mend();
      await expect.poll(() => text(store.view.get(KEY))).toBe("1");
    });

    test("etcd's limits have their own codes", async () => {
      await using server = await EtcdServer.start({ flags: ["--quota-backend-bytes", String(4 << 20)] });
      await using opened = await openStore(server.endpoint);
      const { store } = opened;
      const big = (bytes: number) => ({ type: "put", key: KEY, value: new Uint8Array(bytes) }) as const;

      expect(await codeOf(() => store.write({ changes: [big(3 << 20)] }))).toBe("InvalidTransaction");
      const codes: string[] = [];
      while (codes.length < 20 && codes.at(-1) !== "NoSpace") {
        codes.push(await codeOf(() => store.write({ changes: [big(1 << 20)] })));
      }

      expect(codes.at(-1)).toBe("NoSpace");
      expect(store.space.isFull).toBe(true);
      expect(await codeOf(() => store.write({ changes: [{ type: "delete", key: KEY }] }))).toBe("none");
      expect(await codeOf(() => store.fresh())).toBe("none");
      expect(await codeOf(() => store.compact(store.view.revision + 1000))).toBe("FutureRevision");
    });

    test("when etcd is full, what is refused was not written, however many write at the time", async () => {
      await using server = await EtcdServer.start({ flags: ["--quota-backend-bytes", String(4 << 20)] });
      await using opened = await openStore(server.endpoint, { requestTimeoutMs: 5_000 });
      const { store } = opened;
      const outcomes = new Map<string, string>();

      const value = new Uint8Array(50_000);
      const writeOne = async (key: string): Promise<void> => {
        outcomes.set(key, await codeOf(() => store.write({ changes: [{ type: "put", key, value }] })));
      };
      await Promise.all(Array.from({ length: 200 }, (_, index) => writeOne(`${KEY}${String(index)}`)));
      await writeOne(`${KEY}last`);
      const view = await store.fresh();

      expect(new Set(outcomes.values())).toEqual(new Set(["none", "NoSpace"]));
      const isRight = (key: string): boolean =>
        (view.get(key) !== undefined) === (outcomes.get(key) === "none");
      expect([...outcomes.keys()].filter((key) => !isRight(key))).toEqual([]);
    });
  });
});
