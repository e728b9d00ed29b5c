import { expect, test } from "vitest";
import type { Feed } from "../../http.ts";
import { socketResponse } from "./watch-socket.ts";

const SILENT: Feed = { start: () => undefined, resume: () => undefined, stop: () => undefined };
/** Masked with zeros, and empty. */
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const PONG_BYTES = 2;

test("whoever pings and does not read is listened to again once it does", () => {
  const stream = socketResponse(SILENT, new Map()).switched?.stream;
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => PING));
  for (let n = 0; n < 100; n++) stream?.write(pings);

  expect(stream?.readableLength).toBeLessThan(100_000);

  let bytes = 0;
  for (let piece: unknown = stream?.read(); Buffer.isBuffer(piece); piece = stream?.read())
    bytes += piece.length;
  expect(bytes).toBe(100 * 1000 * PONG_BYTES);
});
