import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import type { Feed, FeedSink } from "../../request/http.ts";
import { socketResponse } from "./watch-socket.ts";

const SILENT: Feed = { start: () => undefined, resume: () => undefined, stop: () => undefined };
/** An empty ping, masked with zeros. */
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const PONG_BYTES = 2;
const HEADERS = new Map([
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
]);

function opened(feed: Feed, loop: VirtualLoop): Duplex {
  const { switched } = socketResponse(feed, { headers: HEADERS }, { type: "text", loop });
  if (switched === undefined) throw new Error("expected a switched connection");
  return switched.stream;
}

test("a client that pings without reading is read again once it reads", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const stream = opened(SILENT, loop);
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => PING));
  for (let n = 0; n < 100; n++) stream.write(pings);
  await loop.advance(1000);

  expect(stream.readableLength).toBeLessThan(100_000);

  let bytes = 0;
  stream.on("data", (piece: Buffer) => (bytes += piece.length));
  while (bytes < 100 * 1000 * PONG_BYTES) await loop.advance(1);
});

/** Sends as long as there is room. */
class Flood implements Feed {
  #sink: FeedSink | undefined;

  start(sink: FeedSink): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    while (this.#sink?.send(Buffer.from(`${"x".repeat(1000)}\n`)) === true);
  }

  stop(): void {
    this.#sink = undefined;
  }
}

test("a client that reads nothing for a minute is cut, and one that reads is not", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const [idle, slow] = [new Flood(), new Flood()].map((feed) => opened(feed, loop));

  for (let n = 0; n < 3; n++) {
    await loop.advance(40_000);
    for (let reads = 0; reads < 100; reads++) {
      slow?.read();
      await loop.advance(1);
    }
  }

  expect([idle?.destroyed, slow?.destroyed]).toEqual([true, false]);
});

test("a client that does not close within a minute after the close frame is cut", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const ended: Feed = { ...SILENT, start: (sink) => sink.end() };
  const stream = opened(ended, loop);
  stream.resume();
  await loop.advance(59_000);
  expect(stream.destroyed).toBe(false);

  await loop.advance(2000);

  expect(stream.destroyed).toBe(true);
});
