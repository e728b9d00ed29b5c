import { describe, expect, test } from "vitest";
import { isStoreError } from "../../../src/store/store-error.ts";
import type { Store, WatchEvent } from "../../../src/store/store.ts";
import { codeOf, line, put, record, remove, text, write } from "../../conformance/store/arrange.ts";
import { base64, EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore, type OpenedStore } from "./open-store.ts";
import { TcpLink } from "./tcp-link.ts";

const ROOT = "/registry/things/";

/** Writes numbers to one key until stopped; returns the acknowledged ones. */
function keepWriting(store: Store, key: string): { stop: () => Promise<number[]> } {
  let isWanted = true;
  const acknowledged: number[] = [];
  const writing = (async () => {
    for (let number = 0; isWanted; number++) {
      const code = await codeOf(() => write(store, put(key, String(number))));
      if (code === "none") acknowledged.push(number);
      else expect(["Unavailable", "OutcomeUnknown"]).toContain(code);
    }
  })();
  return {
    stop: async () => {
      isWanted = false;
      await writing;
      return acknowledged;
    },
  };
}

/** Events of one live key: no version is missing or repeated, and each event begins where the previous one ended. */
function expectUnbroken(events: readonly WatchEvent[]): void {
  expect(events.map(({ after }) => after?.version)).toEqual(events.map((_, index) => index + 1));
  expect(events.slice(1).every(({ before }, index) => before === events[index]?.after)).toBe(true);
}

async function foreignPut(server: EtcdServer, key: string): Promise<number> {
  const { header } = await server.call("/v3/kv/put", { key: base64(key), value: base64("x") });
  return Number((header as { revision: string }).revision);
}

describePeer("etcd", "the feed from etcd", () => {
  test("follows etcd's revision also where others write", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    const recording = record(opened.store.watch({ prefix: "", after: opened.store.view.revision }));

    const revision = await foreignPut(server, "/elsewhere/a");
    const view = await opened.store.fresh();

    expect(view.revision).toBe(revision);
    expect(view.count("", "\u{ffff}")).toBe(0);
    expect(recording.watch.revision).toBe(revision);
    expect(recording.events).toEqual([]);
  });

  test("a watch tells every change once while etcd is killed and comes back", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    const { store } = opened;
    const recording = record(store.watch({ prefix: ROOT, after: 0 }));
    const writing = keepWriting(store, `${ROOT}counter`);

    for (let round = 1; round <= 3; round++) {
      const seen = recording.events.length;
      await expect.poll(() => recording.events.length).toBeGreaterThan(seen + 20);
      await server.kill();
      await server.start();
    }
    const seen = recording.events.length;
    await expect.poll(() => recording.events.length).toBeGreaterThan(seen + 20);
    const acknowledged = await writing.stop();
    const { revision } = await store.fresh();
    await expect.poll(() => recording.watch.revision).toBeGreaterThanOrEqual(revision);

    expectUnbroken(recording.events);
    const told = new Set(recording.events.map(({ after }) => Number(text(after))));
    expect(acknowledged.filter((number) => !told.has(number))).toEqual([]);
    expect(recording.end).toBeUndefined();
  });

  test("a watch tells every change once while the connection breaks again and again", async () => {
    await using server = await EtcdServer.start();
    await using link = await TcpLink.open(server.endpoint);
    await using reader = await openStore(link.endpoint);
    await using writer = await openStore(server.endpoint);
    const recording = record(reader.store.watch({ prefix: ROOT, after: 0 }));
    const writing = keepWriting(writer.store, `${ROOT}counter`);

    for (let round = 1; round <= 10; round++) {
      const seen = recording.events.length;
      await expect.poll(() => recording.events.length).toBeGreaterThan(seen);
      link.mend();
    }
    const acknowledged = await writing.stop();
    await expect.poll(() => recording.events.length).toBe(acknowledged.length);

    expectUnbroken(recording.events);
  });

  test("starts over, and says so, when etcd was compacted meanwhile", async () => {
    await using server = await EtcdServer.start();
    await using link = await TcpLink.open(server.endpoint);
    await using reader = await openStore(link.endpoint);
    await using writer = await openStore(server.endpoint);
    await write(writer.store, put(`${ROOT}a`, "1"), put(`${ROOT}b`, "1"));
    await reader.store.fresh();
    const recording = record(reader.store.watch({ prefix: ROOT, after: reader.store.view.revision }));

    link.cut();
    await write(writer.store, remove(`${ROOT}a`));
    const revision = await write(writer.store, put(`${ROOT}b`, "2"));
    await writer.store.compact(revision);
    link.mend();

    await expect.poll(() => recording.end).toBe("Compacted");
    expect(reader.store.view.get(`${ROOT}a`)).toBeUndefined();
    expect(text(reader.store.view.get(`${ROOT}b`))).toBe("2");
    expect(recording.events).toEqual([]);
    await expect.poll(() => reader.store.health().state).toBe("ready");
  });

  test("a deletion at the compacted revision itself is not lost", async () => {
    await using server = await EtcdServer.start();
    await using link = await TcpLink.open(server.endpoint);
    await using reader = await openStore(link.endpoint);
    await using writer = await openStore(server.endpoint);
    await write(writer.store, put(`${ROOT}a`, "1"));
    await reader.store.fresh();

    link.cut();
    await writer.store.compact(await write(writer.store, remove(`${ROOT}a`)));
    await write(writer.store, put(`${ROOT}b`, "1"));
    link.mend();

    await expect.poll(() => text(reader.store.view.get(`${ROOT}b`))).toBe("1");
    expect(reader.store.view.get(`${ROOT}a`)).toBeUndefined();
  });

  test("an etcd that stopped answering is noticed, and followed again when it goes on", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    const { store } = opened;
    const recording = record(store.watch({ prefix: ROOT, after: store.view.revision }));
    await write(store, put(`${ROOT}a`, "1"));

    await server.pause();
    const [writing, reading] = await Promise.all([
      codeOf(() => write(store, put(`${ROOT}a`, "2"))),
      codeOf(() => store.fresh()),
    ]);
    await expect.poll(() => store.health()).toMatchObject({ state: "degraded" });
    const view = text(store.view.get(`${ROOT}a`));
    server.resume();

    expect([writing, reading]).toEqual(["OutcomeUnknown", "Unavailable"]);
    expect(view).toBe("1");
    await expect.poll(() => store.health().state).toBe("ready");
    await write(store, put(`${ROOT}a`, "3"));
    await store.fresh();
    await expect.poll(() => recording.events.map(line).at(-1)).toMatch(/-> 3$/);
    expectUnbroken(recording.events);
  });

  test("a dead watch is noticed although etcd answers on another endpoint", async () => {
    await using server = await EtcdServer.start();
    await using link = await TcpLink.open(server.endpoint);
    await using reader = await openStore([link.endpoint, server.endpoint]);
    await using writer = await openStore(server.endpoint);

    link.deafen();
    await write(writer.store, put(`${ROOT}a`, "1"));

    await expect.poll(() => text(reader.store.view.get(`${ROOT}a`))).toBe("1");
  });

  test("breaks when etcd comes back with less than it had", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    const { store } = opened;
    for (let number = 0; number < 5; number++) await write(store, put(`${ROOT}a`, String(number)));
    const recording = record(store.watch({ prefix: ROOT, after: store.view.revision }));

    await server.kill();
    server.wipe();
    await server.start();

    const error: unknown = await store.ended.catch((reason: unknown) => reason);
    expect(isStoreError(error, "Damaged")).toBe(true);
    await recording.ended;
    expect(recording.end).toBe("Damaged");
    expect(store.health().state).toBe("degraded");
    expect(await codeOf(() => store.fresh())).toBe("Damaged");
  });

  describe("when an older state of etcd was restored", () => {
    /** A server with a kept copy of its data, and writes after the copy. */
    async function withBackup(): Promise<EtcdServer> {
      const server = await EtcdServer.start();
      for (let number = 0; number < 5; number++) await foreignPut(server, `${ROOT}a`);
      await server.stop();
      server.keepData();
      await server.start();
      for (let number = 0; number < 5; number++) await foreignPut(server, `${ROOT}a`);
      return server;
    }

    test("breaks as soon as it is back", async () => {
      await using server = await withBackup();
      await using opened = await openStore(server.endpoint, { proveEveryMs: 60_000 });
      const { store } = opened;
      await server.kill();
      server.goBack();
      await server.start();

      const error: unknown = await store.ended.catch((reason: unknown) => reason);

      expect(isStoreError(error, "Damaged")).toBe(true);
    });

    test("starts over, and says so, when etcd has come further since than it was before", async () => {
      await using server = await withBackup();
      await using link = await TcpLink.open(server.endpoint);
      await using opened = await openStore(link.endpoint, { proveEveryMs: 60_000 });
      const { store } = opened;
      const version = store.view.get(`${ROOT}a`)?.version;
      const recording = record(store.watch({ prefix: ROOT, after: store.view.revision }));
      link.cut();
      await server.kill();
      server.goBack();
      await server.start();
      while ((await foreignPut(server, `${ROOT}b`)) <= store.view.revision);
      await foreignPut(server, `${ROOT}c`);
      link.mend();

      await expect.poll(() => recording.end).toBe("Compacted");

      expect(recording.events).toEqual([]);
      expect([version, store.view.get(`${ROOT}a`)?.version]).toEqual([10, 5]);
      expect(store.view.count(ROOT, `${ROOT}~`)).toBe(3);
    });

    /** A store that has seen one key created and another deleted, over an etcd that has lost both and reached a later revision. */
    async function comeFurther(server: EtcdServer, link: TcpLink, { store }: OpenedStore): Promise<void> {
      await foreignPut(server, `${ROOT}lost`);
      await foreignPut(server, `${ROOT}deleted`);
      await server.call("/v3/kv/deleterange", { key: base64(`${ROOT}deleted`) });
      await store.fresh();
      link.cut();
      await server.kill();
      server.goBack();
      await server.start();
      while ((await foreignPut(server, "/elsewhere/a")) <= store.view.revision);
      link.mend();
    }

    test("starts over also when a deletion was the last that it has seen", async () => {
      await using server = await withBackup();
      await using link = await TcpLink.open(server.endpoint);
      await using opened = await openStore(link.endpoint, { proveEveryMs: 60_000 });
      const { store } = opened;
      const recording = record(store.watch({ prefix: ROOT, after: store.view.revision }));

      await comeFurther(server, link, opened);

      await expect.poll(() => recording.end).toBe("Compacted");
      expect([...store.view.range(ROOT, `${ROOT}~`)].map(({ key }) => key)).toEqual([`${ROOT}a`]);
    });

    test("takes no revision of the lost past for one of the past that there is now", async () => {
      await using server = await withBackup();
      await using link = await TcpLink.open(server.endpoint);
      await using opened = await openStore(link.endpoint, { proveEveryMs: 60_000 });
      const { store } = opened;
      const recording = record(store.watch({ prefix: ROOT, after: store.view.revision }));
      const before = store.view.revision;

      await comeFurther(server, link, opened);
      await expect.poll(() => recording.end).toBe("Compacted");

      expect(await codeOf(() => store.watch({ prefix: ROOT, after: before }))).toBe("Compacted");
      expect(await codeOf(() => store.at(before, ROOT))).toBe("Compacted");
      expect(await codeOf(() => store.at(store.view.revision, ROOT))).toBe("none");
    });
  });

  describe("history that memory does not have", () => {
    test("is told by etcd, with the values before", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      const first = await write(writer.store, put(`${ROOT}a`, "1"));
      await foreignPut(server, "/elsewhere/a");
      await write(writer.store, put(`${ROOT}a`, "2"), put(`${ROOT}b`, "2"));
      const last = await write(writer.store, remove(`${ROOT}a`));
      await using late = await openStore(server.endpoint);

      const recording = record(late.store.watch({ prefix: ROOT, after: first }));
      await expect.poll(() => recording.watch.revision).toBeGreaterThanOrEqual(last);

      expect(recording.events.map(line)).toEqual([
        `${String(last - 1)} ${ROOT}a 1 -> 2`,
        `${String(last - 1)} ${ROOT}b - -> 2`,
        `${String(last)} ${ROOT}a 2 -> -`,
      ]);
      expect(text((await late.store.at(first, ROOT)).get(`${ROOT}a`))).toBe("1");
    });

    test("costs what has changed since, not what there is", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      await write(writer.store, put(`${ROOT}a`, "1"), put(`${ROOT}b`, "1"), put(`${ROOT}c`, "1"));
      const before = await write(writer.store, remove(`${ROOT}c`));
      await write(writer.store, put(`${ROOT}b`, "2"), put(`${ROOT}d`, "2"));
      await using late = await openStore(server.endpoint);

      const past = await late.store.at(before, ROOT);

      expect([...past.range(ROOT, `${ROOT}~`)].map((entry) => text(entry))).toEqual(["1", "1"]);
      expect(past.get(`${ROOT}a`)).toBe(late.store.view.get(`${ROOT}a`));
    });

    test("costs what there is where more has happened since", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      const before = await write(writer.store, put(`${ROOT}a`, "1"), put(`${ROOT}b`, "1"));
      await write(writer.store, put(`${ROOT}b`, "2"));
      for (const value of ["1", "2", "3"]) await write(writer.store, put("/registry/leases/busy", value));
      await using late = await openStore(server.endpoint);

      const past = await late.store.at(before, ROOT);

      expect([...past.range(ROOT, `${ROOT}~`)].map((entry) => text(entry))).toEqual(["1", "1"]);
      expect(past.get(`${ROOT}a`), "read anew").not.toBe(late.store.view.get(`${ROOT}a`));
    });

    test("is told in bounded pieces", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      const key = (number: number): string => `${ROOT}${String(number % 100)}`;
      const after = writer.store.view.revision;
      for (let number = 0; number < 3000; number += 100) {
        await Promise.all(
          Array.from({ length: 100 }, (_, index) => write(writer.store, put(key(number + index), "x"))),
        );
      }
      await using late = await openStore(server.endpoint);

      const recording = record(late.store.watch({ prefix: ROOT, after }));
      await expect.poll(() => recording.events.length).toBe(3000);

      expect(recording.batches.length).toBeGreaterThan(1);
      const revisions = recording.events.map(({ revision }) => revision);
      expect(revisions).toEqual(Array.from({ length: 3000 }, (_, index) => after + 1 + index));
    });

    test("is Compacted when etcd gave it up", async () => {
      await using server = await EtcdServer.start();
      await using writer = await openStore(server.endpoint);
      const first = await write(writer.store, put(`${ROOT}a`, "1"));
      const second = await write(writer.store, put(`${ROOT}a`, "2"));
      await server.call("/v3/kv/compaction", { revision: String(second) });

      await using late = await openStore(server.endpoint);

      expect(await codeOf(() => late.store.watch({ prefix: ROOT, after: first }))).toBe("Compacted");
      expect(await codeOf(() => late.store.at(first, ROOT))).toBe("Compacted");
      expect(await codeOf(() => late.store.watch({ prefix: ROOT, after: second }).close())).toBe("none");
    });
  });
});
