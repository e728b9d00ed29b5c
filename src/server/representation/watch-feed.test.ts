import { expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { WatchEventAnswer } from "../request/answer.ts";
import type { FeedSink } from "../request/http.ts";
import { TestEvents } from "./fixture.ts";
import { WatchBatcher, WatchFeed } from "./watch-feed.ts";
import type { FrameWriter } from "./watch-frames.ts";

/** Writes each event as a line with its number. */
class Lines implements FrameWriter {
  readonly name: string | undefined;
  readonly #bytesEach: number;
  made = 0;

  /** Without a name nothing is shared between writers. */
  constructor(name = "lines", bytesEach = 0) {
    this.name = name === "" ? undefined : name;
    this.#bytesEach = bytesEach;
  }

  frame({ resourceVersion = "" }: WatchEventAnswer): Uint8Array {
    if (resourceVersion === "unreadable") throw new Error("cannot be shown");
    this.made += 1;
    return Buffer.from(`${resourceVersion.padEnd(this.#bytesEach - 1, ".")}\n`);
  }

  *parts(event: WatchEventAnswer): Generator<Uint8Array> {
    yield this.frame(event);
  }
}

class Client implements FeedSink {
  readonly pieces: Uint8Array[] = [];
  /** Number of further pieces that fit. */
  room = Infinity;
  ended: { readonly error: unknown } | undefined;

  get texts(): readonly string[] {
    return this.pieces.map((piece) => Buffer.from(piece).toString().replaceAll("\n", " ").trim());
  }

  send(piece: Uint8Array): boolean {
    this.pieces.push(piece);
    this.room -= 1;
    return this.room > 0;
  }

  end(error?: unknown): void {
    this.ended = { error };
  }
}

class Fixture {
  readonly loop = new VirtualLoop({ seed: 1, startAt: 1000 });
  readonly batcher = new WatchBatcher(this.loop);

  watch(writer: FrameWriter = new Lines()): { events: TestEvents; feed: WatchFeed; client: Client } {
    const events = new TestEvents();
    const feed = new WatchFeed(events, { writer, batcher: this.batcher });
    return { events, feed, client: new Client() };
  }
}

function batch(...numbers: readonly (number | string)[]): readonly WatchEventAnswer[] {
  return numbers.map((n) => ({ type: "BOOKMARK", resourceVersion: String(n) }));
}

test("a single event is sent at once, and those within a moment after it in one piece", async () => {
  const { loop, watch } = bound(new Fixture());
  const { events, feed, client } = watch();
  feed.start(client);
  events.add(batch(1));
  loop.timer(1001, "progress", () => events.add(batch(2)));
  loop.timer(1002, "progress", () => events.add(batch(3, 4)));
  await loop.settle();

  expect(client.texts).toEqual(["1", "2 3 4"]);
});

test("watchers of the same events in the same form share their bytes", async () => {
  const { loop, watch } = bound(new Fixture());
  const [first, second, other] = [new Lines(), new Lines(), new Lines("another")];
  const watches = [first, second, other].map((writer) => watch(writer));
  const shared = batch(1, 2);
  for (const { events, feed, client } of watches) {
    feed.start(client);
    events.add(shared);
  }
  await loop.settle();
  const [a, b, c] = watches.map(({ client }) => client.pieces[0]);

  expect(a).toBe(b);
  expect(c).not.toBe(a);
  expect([first.made, second.made, other.made]).toEqual([2, 0, 2]);
});

test("writers without a name share nothing", async () => {
  const { loop, watch } = bound(new Fixture());
  const watches = [watch(new Lines("")), watch(new Lines(""))];
  const shared = batch(1);
  for (const { events, feed, client } of watches) {
    feed.start(client);
    events.add(shared);
  }
  await loop.settle();

  expect(watches[0]?.client.pieces[0]).not.toBe(watches[1]?.client.pieces[0]);
});

test("no piece is made for a client without room, and all are once there is room", async () => {
  const { loop, watch } = bound(new Fixture());
  const writer = new Lines();
  const { events, feed, client } = watch(writer);
  client.room = 1;
  feed.start(client);
  events.add(batch(1));
  await loop.settle();
  events.add(batch(2));
  events.add(batch(3));
  await loop.settle();
  expect([client.texts, writer.made]).toEqual([["1"], 1]);

  client.room = Infinity;
  feed.resume();
  await loop.settle();
  expect(client.texts).toEqual(["1", "2 3"]);
});

test("very many initial events are sent in pieces without a moment in between", async () => {
  const { loop, watch } = bound(new Fixture());
  const { events, feed, client } = watch(new Lines("lines", 1000));
  events.add(batch(...Array.from({ length: 200 }, (_, n) => n)));
  feed.start(client);
  client.room = 2;
  await loop.settle();
  events.add(batch(...Array.from({ length: 100 }, (_, n) => n)));
  client.room = Infinity;
  feed.resume();

  expect(client.pieces.map(({ byteLength }) => byteLength)).toEqual([
    66_000, 66_000, 66_000, 2000, 66_000, 34_000,
  ]);
});

test("the response ends after the last event", async () => {
  const { loop, watch } = bound(new Fixture());
  const { events, feed, client } = watch();
  feed.start(client);
  events.add(batch(1));
  events.close();
  await loop.settle();

  expect([client.texts, client.ended]).toEqual([["1"], { error: undefined }]);
});

test("an event that cannot be encoded cuts the response and closes the watch", async () => {
  const { loop, watch } = bound(new Fixture());
  const { events, feed, client } = watch();
  feed.start(client);
  events.add(batch("unreadable"));
  await loop.settle();

  expect(String(client.ended?.error)).toContain("cannot be shown");
  expect(events.isClosed).toBe(true);
});

test("a client that has disconnected gets nothing, and its watch closes", async () => {
  const { loop, watch } = bound(new Fixture());
  const { events, feed, client } = watch();
  feed.start(client);
  events.add(batch(1));
  feed.stop();
  await loop.settle();

  expect([client.texts, client.ended, events.isClosed]).toEqual([[], undefined, true]);
});

function bound(fixture: Fixture): { loop: VirtualLoop; watch: Fixture["watch"] } {
  return { loop: fixture.loop, watch: (writer) => fixture.watch(writer) };
}
