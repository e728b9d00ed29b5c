/** Writes while the memory of the store stands still, because no watch feeds it. */
import { expect, test } from "vitest";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { ConditionVariable } from "../../../src/store/etcd/condition-variable.ts";
import { EtcdWriter } from "../../../src/store/etcd/etcd-writer.ts";
import { Keyspace } from "../../../src/store/etcd/keyspace.ts";
import { readSnapshot } from "../../../src/store/etcd/snapshot.ts";
import { EtcdConnection } from "../../../src/store/etcd/wire/etcd-connection.ts";
import { Mirror } from "../../../src/store/mirror.ts";
import { codeOf, put, remove, text, write } from "../../conformance/store/arrange.ts";
import { EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore } from "./open-store.ts";

const KEY = "/registry/things/a";

interface StandingStill extends AsyncDisposable {
  readonly writer: EtcdWriter;
  /** Reloads memory with everything in etcd. */
  readonly reload: () => Promise<void>;
}

async function standStill(endpoint: string): Promise<StandingStill> {
  const loop = createRealLoop({ name: "writer" });
  const connection = new EtcdConnection({ loop, endpoints: [endpoint], requestTimeoutMs: 1_000 });
  const keyspace = new Keyspace("/registry/");
  const condition = new ConditionVariable(loop);
  const mirror = new Mirror({ loop }, await readSnapshot(connection, { keyspace }));
  const writer = new EtcdWriter({ loop, connection, keyspace, mirror, condition });
  const reload = async (): Promise<void> => {
    mirror.reset(await readSnapshot(connection, { keyspace }));
    condition.check();
  };
  return { writer, reload, [Symbol.asyncDispose]: async () => connection.close() };
}

describePeer("etcd", "a writer whose memory stands still", () => {
  test("is not told of a refusal whose cause is not readable yet", async () => {
    await using server = await EtcdServer.start();
    await using other = await openStore(server.endpoint);
    const revision = await write(other.store, put(KEY, "1"));
    await using still = await standStill(server.endpoint);
    await write(other.store, put(KEY, "2"));

    const compare = [{ key: KEY, modRevision: revision }];
    const code = await codeOf(() => still.writer.write({ compare, changes: [put(KEY, "3")] }));

    expect(code).toBe("Unavailable");
  });

  test("is not told of a deletion that is not visible yet", async () => {
    await using server = await EtcdServer.start();
    await using other = await openStore(server.endpoint);
    await write(other.store, put(KEY, "1"));
    await using still = await standStill(server.endpoint);
    await write(other.store, remove(KEY));

    const code = await codeOf(() => still.writer.write({ changes: [remove(KEY)] }));

    expect(code).toBe("Unavailable");
  });

  test("gets no acknowledgement at a revision that was shown before", async () => {
    await using server = await EtcdServer.start();
    await server.stop();
    server.keepData();
    await server.start();
    await using other = await openStore(server.endpoint);
    for (let number = 0; number < 5; number++) await write(other.store, put(KEY, String(number)));
    await using still = await standStill(server.endpoint);
    await server.kill();
    server.goBack();
    await server.start();

    const codes: string[] = [];
    while (!codes.includes("none") && !codes.includes("Damaged"))
      codes.push(await codeOf(() => still.writer.write({ changes: [put(KEY, "new")] })));

    expect(codes).toContain("Damaged");
  });

  test("is told of the success of what etcd has taken, with the entry", async () => {
    await using server = await EtcdServer.start();
    await using other = await openStore(server.endpoint);
    const created = await write(other.store, put(KEY, "1"));
    await using still = await standStill(server.endpoint);
    const slot = { decoded: true };

    const { revision, entries } = await still.writer.write({
      compare: [
        { key: KEY, modRevision: created },
        { key: `${KEY}-new`, modRevision: 0 },
      ],
      changes: [
        { type: "put", key: KEY, value: Buffer.from("2"), slot },
        put(`${KEY}-new`, "3"),
        remove(`${KEY}-gone`),
      ],
    });

    const stored = (await other.store.fresh()).get(KEY);
    expect(revision).toBe(stored?.modRevision);
    expect(entries.map((entry) => entry && { ...entry, value: text(entry) })).toEqual([
      { ...stored, slot, value: "2" },
      { ...other.store.view.get(`${KEY}-new`), value: "3" },
      undefined,
    ]);
  });

  test("is told of the success also when memory starts over and etcd has given up that revision", async () => {
    await using server = await EtcdServer.start();
    await using other = await openStore(server.endpoint);
    await using still = await standStill(server.endpoint);
    const kept = `${KEY}-kept`;
    const replaced = `${KEY}-replaced`;

    const writing = [kept, replaced].map((key) =>
      codeOf(() => still.writer.write({ changes: [put(key, "1")] })),
    );
    await expect
      .poll(() => [kept, replaced].every((key) => other.store.view.get(key) !== undefined))
      .toBe(true);
    await write(other.store, put(replaced, "2"));
    await other.store.compact(other.store.view.revision);
    await still.reload();

    expect(await Promise.all(writing)).toEqual(["none", "none"]);
  });
});
