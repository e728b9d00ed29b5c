/**
 * A watch as the server wrote it, byte for byte, and a transport that replays it and cuts the connection where a test says. The HTTP
 * transport's own parser reads the bytes.
 */
import type { ApiObject } from "../../src/api/api-object.ts";
import type { Loop } from "../../src/base/loop/loop.ts";
import { EventStream } from "../../src/client/http/event-stream.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "../../src/client/transport.ts";
import { fedPieces } from "../../src/server/representation/fixture.ts";
import { MAPS, type WatcherFixture } from "./watcher-fixture.ts";

interface RecordedLine {
  readonly type: string;
  readonly object: ApiObject;
  readonly bytes: Uint8Array;
}

export interface Recording {
  /** Up to and including the bookmark that ends them. */
  readonly initial: readonly RecordedLine[];
  readonly later: readonly RecordedLine[];
}

const TARGET = `${MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

/** Objects with characters of all lengths, deletions and re-creations, several objects at one revision, and bookmarks. */
export async function recordWatch(world: WatcherFixture): Promise<Recording> {
  await world.makeMap("a", { text: "ü€😀\n" });
  await world.makeMap("b");
  const ending = new AbortController();
  const bytes: Uint8Array[] = [];
  const reading = read(world, bytes, ending.signal);
  await world.loop.settle();

  await world.makeMap("c", { text: "€" });
  await change(world, "a", "1");
  await world.send("DELETE", `${MAPS}/b`);
  await world.makeMap("b");
  await world.makeMap("d");
  await world.loop.advance(61_000);
  await change(world, "c", "😀😀");
  const keys = ["b", "d"].map((name) => `/registry/configmaps/default/${name}`);
  await world.run(world.store.write({ changes: keys.map((key) => ({ type: "delete", key })) }));
  await change(world, "a", "2");
  await world.loop.advance(61_000);
  ending.abort();
  await world.loop.settle();
  await reading;

  const lines = linesOf(Buffer.concat(bytes));
  const end = lines.findIndex(
    ({ object }) => object.metadata.annotations?.["k8s.io/initial-events-end"] === "true",
  );
  return { initial: lines.slice(0, end + 1), later: lines.slice(end + 1) };
}

async function change(world: WatcherFixture, name: string, text: string): Promise<void> {
  await world.send("PUT", `${MAPS}/${name}`, { metadata: { name }, data: { text } });
}

async function read(world: WatcherFixture, bytes: Uint8Array[], signal: AbortSignal): Promise<void> {
  const { feed } = await world.handler({
    method: "GET",
    target: TARGET,
    headers: new Map(),
    peer: { user: "admin", groups: ["system:masters"] },
    signal,
    readBody: () => Promise.resolve(new Uint8Array(0)),
  });
  if (feed === undefined) throw new Error("a watch is a feed");
  for await (const piece of fedPieces(feed)) bytes.push(piece);
}

function linesOf(bytes: Buffer): readonly RecordedLine[] {
  const lines: RecordedLine[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf("\n", from) + 1;
    const line = bytes.subarray(from, to);
    const { type, object } = JSON.parse(line.toString()) as { type: string; object: ApiObject };
    lines.push({ type, object, bytes: line });
    from = to;
  }
  return lines;
}

export interface PlayerOptions {
  readonly recording: Recording;
  readonly loop: Loop;
  /** Number of body bytes after which a connection breaks; undefined for never. */
  readonly cutAfter: (connection: number) => number | undefined;
  readonly chunkBytes: number;
}

/** Replays the recorded stream, whole or after a resource version. Then it is silent. */
export class RecordingPlayer implements Transport {
  readonly #options: PlayerOptions;
  /** Number of watches that were opened. */
  connections = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  async send(): Promise<TransportResponse> {
    await this.#step();
    const { initial } = this.#options.recording;
    const items = initial.filter(({ type }) => type === "ADDED").map(({ object }) => object);
    const resourceVersion = initial.at(-1)?.object.metadata.resourceVersion;
    return { code: 200, value: { metadata: { resourceVersion }, items }, warnings: [] };
  }

  async watch({ query, signal }: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    await this.#step();
    const { initial, later } = this.#options.recording;
    const after = Number(query?.["resourceVersion"] ?? 0);
    const isInitial = query?.["sendInitialEvents"] === "true";
    const lines = [
      ...(isInitial ? initial : []),
      ...later.filter(({ object }) => isInitial || Number(object.metadata.resourceVersion) > after),
    ];
    const bytes = Buffer.concat(lines.map((line) => line.bytes));
    const cutAfter = this.#options.cutAfter(this.connections++);
    const items = new EventStream(this.#bytes(bytes, cutAfter, signal ?? new AbortController().signal));
    return { code: 200, refusal: undefined, items };
  }

  read(): Promise<never> {
    return Promise.reject(new Error("nothing else was recorded"));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *#bytes(
    bytes: Uint8Array,
    cutAfter: number | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, undefined> {
    const end = Math.min(bytes.length, cutAfter ?? bytes.length);
    for (let at = 0; at < end; at += this.#options.chunkBytes) {
      await this.#step();
      yield bytes.subarray(at, Math.min(end, at + this.#options.chunkBytes));
    }
    await this.#step();
    if (cutAfter !== undefined && cutAfter <= bytes.length) throw new Error("the connection was reset");
    await aborted(signal);
  }

  #step(): Promise<void> {
    return new Promise((resolve) => this.#options.loop.post("loop", resolve));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
