import { afterEach, expect, test } from "vitest";
import { ChannelEnd, createChannel } from "./channel.js";
import type { EndParts } from "./channel.js";

const open: EndParts[] = [];

afterEach(() => {
  for (const { port } of open.splice(0)) port.close();
});

function createEnds(): [ChannelEnd<string, string>, ChannelEnd<string, string>] {
  const [one, two] = createChannel();
  open.push(one, two);
  return [new ChannelEnd(one), new ChannelEnd(two)];
}

test("the other end finds messages at once and in order", () => {
  const [one, two] = createEnds();
  expect(two.next()).toBeUndefined();
  one.post("a");
  one.post("b");
  expect([two.next(), two.next(), two.next()]).toEqual(["a", "b", undefined]);
  expect(one.next()).toBeUndefined();
});

test("each message is delivered once, by polling or by waiting", async () => {
  const [one, two] = createEnds();
  const taken: (string | undefined)[] = [];
  const last = new Promise<void>((resolve) => {
    two.onMessage((message) => {
      taken.push(message);
      if (message === "d") resolve();
    });
  });
  one.post("a");
  one.post("b");
  taken.push(two.next());
  one.post("c");
  one.post("d");
  await last;
  expect(taken).toEqual(["a", "b", "c", "d"]);
  one.post("e");
  expect([two.next(), two.next()]).toEqual(["e", undefined]);
});

test("buffers are transferred", () => {
  const [one, two] = createChannel();
  open.push(one, two);
  const buffer = new ArrayBuffer(8);
  new ChannelEnd<ArrayBuffer, never>(one).post(buffer, [buffer]);
  expect(buffer.byteLength).toBe(0);
  expect(new ChannelEnd<never, ArrayBuffer>(two).next()?.byteLength).toBe(8);
});
