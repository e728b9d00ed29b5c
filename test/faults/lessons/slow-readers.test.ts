/** A client that does not read its responses costs the server bounded memory and delays no other client. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  openSession,
  PROTOCOLS,
  readAll,
  sendHttp2,
  startServer,
} from "../../../src/server/transport/fixture.ts";
import type { ClientAnswer, Send, TestServer } from "../../../src/server/transport/fixture.ts";
import { TestApi } from "../../api-harness.ts";
import { made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MIB = 1024 * 1024;
/** Length of the beginning of a line that shows the type of its event. */
const HEAD_LENGTH = 40;
const VALUE = "x".repeat(900_000);

function map(name: string): object {
  return { metadata: { name }, data: { value: VALUE } };
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function memoryBytes(): number {
  collectGarbage();
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

function asAdmin(server: TestServer, send: Send, path: string): Promise<ClientAnswer> {
  return send(server, { path, identity: server.pki.admin });
}

describe.each(PROTOCOLS)("over %s", (_protocol, send) => {
  test("unread lists are not kept in memory", async () => {
    await using api = await TestApi.start();
    for (let at = 0; at < 12; at++) await made(api.send("POST", MAPS, map(`m${String(at)}`)));
    const server = await startServer(api.handler);
    await readAll((await asAdmin(server, send, MAPS)).body);
    const before = memoryBytes();

    const stalled = await Promise.all(Array.from({ length: 15 }, () => asAdmin(server, send, MAPS)));
    const beside = await asAdmin(server, send, `${MAPS}?limit=1`);

    // All of them together are 160 MB.
    expect(memoryBytes() - before).toBeLessThan(60 * MIB);
    expect([beside.status, ...stalled.map(({ status }) => status)]).toEqual(Array(16).fill(200));
    for (const one of [...stalled, beside]) one.leave();
  });

  test("an unread watch is ended, and others see everything", async () => {
    await using api = await TestApi.start();
    const server = await startServer(api.handler);
    const [slow, quick] = [
      await asAdmin(server, send, `${MAPS}?watch=1`),
      await asAdmin(server, send, `${MAPS}?watch=1`),
    ];
    const seen = eventsOf(quick);

    for (let at = 0; at < 24; at++) {
      await made(api.send("POST", MAPS, map(`m${String(at)}`)));
      await made(api.send("DELETE", `${MAPS}/m${String(at)}`));
      expect(await seen.next()).toEqual({ done: false, value: "ADDED" });
      expect(await seen.next()).toEqual({ done: false, value: "DELETED" });
    }

    // All events together are 43 MB, and 32 MB may wait for one client.
    let late = 0;
    for await (const _ of eventsOf(slow)) late += 1;
    expect(late).toBeLessThan(48);
    quick.leave();
  });
});

test("a session of unread watches does not delay the client's other sessions", async () => {
  await using api = await TestApi.start();
  const server = await startServer(api.handler);
  const session = openSession(server, server.pki.admin);
  const watches = await Promise.all(
    Array.from({ length: 50 }, () => sendHttp2(session, { path: `${MAPS}?watch=1` })),
  );

  for (let at = 0; at < 5; at++) await made(api.send("POST", MAPS, map(`m${String(at)}`)));
  const beside = await sendHttp2(session, { path: "/livez/ping" });

  expect(beside.status).toBe(200);
  for (const one of watches) one.leave();
});

/** Types of events, one by one, until the watch ends. */
async function* eventsOf({ body }: ClientAnswer): AsyncGenerator<string> {
  let head = "";
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (const [at, part] of piece.toString("latin1").split("\n").entries()) {
      if (at > 0) {
        yield /^\{"type":"([A-Z]+)"/.exec(head)?.[1] ?? "";
        head = "";
      }
      if (head.length < HEAD_LENGTH) head += part.slice(0, HEAD_LENGTH);
    }
  }
}
