import { expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import type { Feed, Outlet } from "../../request/http.ts";
import { socketResponse } from "./watch-socket.ts";

const SILENT: Feed = { start: () => undefined, resume: () => undefined, stop: () => undefined };
/** An empty ping, masked with zeros. */
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const PONG_BYTES = 2;

test("a client that pings without reading is read again once it reads", () => {
  const stream = socketResponse(SILENT, new Map(), new VirtualLoop({ seed: 1 })).switched?.stream;
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => PING));
  for (let n = 0; n < 100; n++) stream?.write(pings);

  expect(stream?.readableLength).toBeLessThan(100_000);

  let bytes = 0;
  for (let piece: unknown = stream?.read(); Buffer.isBuffer(piece); piece = stream?.read())
    bytes += piece.length;
  expect(bytes).toBe(100 * 1000 * PONG_BYTES);
});

/** Sends as long as there is room. */
class Flood implements Feed {
  #outlet: Outlet | undefined;

  start(outlet: Outlet): void {
    this.#outlet = outlet;
    this.resume();
  }

  resume(): void {
    while (this.#outlet?.send(Buffer.alloc(1000)) === true);
  }

  stop(): void {
    this.#outlet = undefined;
  }
}

test("a client that reads nothing for a minute is cut, and one that reads is not", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const [idle, slow] = [new Flood(), new Flood()].map(
    (feed) => socketResponse(feed, new Map(), loop).switched?.stream,
  );
  idle?.read();
  slow?.read();

  for (let n = 0; n < 3; n++) {
    await loop.advance(40_000);
    slow?.read();
  }

  expect([idle?.destroyed, slow?.destroyed]).toEqual([true, false]);
});

test("a client that does not close within a minute after the close frame is cut", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const stream = socketResponse(SILENT, new Map(), loop).switched?.stream;
  stream?.resume().write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
  await loop.advance(59_000);
  expect(stream?.destroyed).toBe(false);

  await loop.advance(2000);

  expect(stream?.destroyed).toBe(true);
});
