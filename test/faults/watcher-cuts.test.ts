/** The connection of a watcher breaks at every byte of a watch: no event is lost or repeated, and no memory accumulates. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import { Cache } from "../../src/runtime/cache/cache.ts";
import type { WatcherEvent } from "../../src/runtime/watch/watcher-event.ts";
import { Watcher } from "../../src/runtime/watch/watcher.ts";
import { WatcherFixture } from "./watcher-fixture.ts";
import { recordWatch, RecordingPlayer } from "./watcher-recording.ts";
import type { PlayerOptions, Recording } from "./watcher-recording.ts";

let recording: Recording;
let expected: Told;
/** A state, and all changes after it. */
let lengthOfHistory: number;

beforeAll(async () => {
  const world = await WatcherFixture.begin(1);
  recording = await recordWatch(world);
  await world.store.close();
  lengthOfHistory = 1 + recording.later.filter(({ type }) => type !== "BOOKMARK").length;
  expected = await toldBy({ cutAfter: () => undefined, chunkBytes: 1 << 20 });
});

interface Told {
  readonly history: readonly string[];
  readonly held: readonly ApiObject[];
  readonly connections: number;
}

/** Everything that a watcher delivers until the stream is silent. */
async function toldBy(options: Pick<PlayerOptions, "cutAfter" | "chunkBytes">): Promise<Told> {
  const loop = new VirtualLoop({ seed: 1 });
  const player = new RecordingPlayer({ ...options, recording, loop: loop.child("server") });
  const watcher = new Watcher<ApiObject>({ transport: player, type: ConfigMap, loop, log: silentLog });
  const cache = new Cache<ApiObject>(silentLog);
  const history: string[] = [];
  const ending = new AbortController();
  const running = watcher.run((event) => {
    history.push(...briefly(event));
    cache.apply(event);
  }, ending.signal);
  // Longer than the waits between many cuts; then some more time, in which nothing may arrive.
  const bounds = { limitMs: 1e12, maxSteps: 100_000 };
  await loop.until(() => history.length >= lengthOfHistory, bounds);
  await loop.advance(60_000);
  ending.abort();
  await loop.settle();
  await running;
  return { history, held: cache.list(), connections: player.connections };
}

function briefly(event: WatcherEvent<ApiObject>): readonly string[] {
  if (event.type === "progress") return [];
  if (event.type === "reset") return [`reset ${event.objects.map(place).join()} at ${event.resourceVersion}`];
  return event.changes.map(({ type, object }) => `${type} ${place(object)}`);
}

function place({ metadata }: ApiObject): string {
  return `${metadata.name ?? ""}@${metadata.resourceVersion ?? ""}`;
}

function lengthOf(lines: Recording["later"]): number {
  return Buffer.concat(lines.map(({ bytes }) => bytes)).length;
}

function longestLine(): number {
  return Math.max(...[...recording.initial, ...recording.later].map(({ bytes }) => bytes.length));
}

describe("a watch whose connection is cut", () => {
  test("is one that has everything in it", () => {
    const changes = recording.later.filter(({ type }) => type !== "BOOKMARK");
    const versions = changes.map(({ object }) => object.metadata.resourceVersion);

    expect(expected.history).toHaveLength(lengthOfHistory);
    expect(changes.map(({ type }) => type).toSorted()).toEqual([
      ...["ADDED", "ADDED", "ADDED", "DELETED", "DELETED", "DELETED", "MODIFIED", "MODIFIED", "MODIFIED"],
    ]);
    expect(new Set(versions).size).toBe(versions.length - 1);
    expect(recording.later.filter(({ type }) => type === "BOOKMARK")).toHaveLength(2);
    expect(expected.held.map(place)).toHaveLength(2);
  });

  test("at any byte delivers everything once", async () => {
    const total = lengthOf(recording.initial) + lengthOf(recording.later);

    for (let cut = 0; cut <= total; cut++) {
      const told = await toldBy({
        cutAfter: (connection) => (connection === 0 ? cut : undefined),
        chunkBytes: 4096,
      });
      expect(told, `cut after ${cut} bytes`).toEqual({ ...expected, connections: 2 });
    }
  });

  test("at any byte of the connection that resumes it delivers everything once", async () => {
    const total = lengthOf(recording.later);
    const first = lengthOf(recording.initial) + Math.floor(total / 3);

    for (let cut = 0; cut <= total; cut += 3) {
      const cutAfter = (connection: number) => [first, cut][connection];
      const told = await toldBy({ cutAfter, chunkBytes: 100 });
      expect(told.history, `cut after ${first} and ${cut} bytes`).toEqual(expected.history);
    }
  });

  test("again and again, after any number of bytes that brings it on, delivers everything once", async () => {
    // A possibly incomplete revision is sent again: two events here, and a new one.
    const least = 3 * longestLine();

    for (let size = least; size < least + 200; size++) {
      const told = await toldBy({ cutAfter: () => size, chunkBytes: 64 + (size % 7) });
      expect(told.history, `cut after each ${size} bytes`).toEqual(expected.history);
      expect(told.held).toEqual(expected.held);
    }
  });

  test("comes in pieces of any size", async () => {
    for (const chunkBytes of [1, 2, 3, 7, 100]) {
      expect(await toldBy({ cutAfter: () => undefined, chunkBytes })).toEqual(expected);
    }
  });

  test("thousands of times needs no more memory than a few times", async () => {
    const after = lengthOf(recording.initial) + 10;
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heapAfter = async (cuts: number): Promise<number> => {
      let heap = 0;
      const cutAfter = (connection: number): number | undefined => {
        if (connection === cuts) {
          collect();
          heap = process.memoryUsage().heapUsed;
        }
        return connection < cuts ? (connection === 0 ? after : 10) : undefined;
      };
      expect((await toldBy({ cutAfter, chunkBytes: 4096 })).history).toEqual(expected.history);
      return heap;
    };

    await heapAfter(500);
    const few = await heapAfter(500);
    const many = await heapAfter(10_000);

    expect(many - few).toBeLessThan(1_000_000);
  });
});
