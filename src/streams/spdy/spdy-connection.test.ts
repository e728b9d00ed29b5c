import { finished } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import { pause } from "../../base/loop/pause.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { duplexPair } from "../duplex-pair.ts";
import { received } from "../upgrade-fixture.ts";
import { FrameReader, FrameWriter } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-stream.ts";
import { WINDOW_BYTES } from "./spdy-stream.ts";

const loop = createRealLoop({ name: "test" });
/** The next turn of the event loop. */
const TURN = { ms: 0, kind: "progress" } as const;
const MIB = 1024 * 1024;

interface Joined {
  readonly client: SpdyConnection;
  readonly server: SpdyConnection;
  /** The server's ends of the streams, in the order of their opening. */
  readonly accepted: readonly SpdyStream[];
}

function joinedConnections(mayAccept: (stream: SpdyStream) => boolean = () => true): Joined {
  const [left, right] = duplexPair();
  const accepted: SpdyStream[] = [];
  const client = new SpdyConnection(left, { role: "client", loop });
  const server = new SpdyConnection(right, {
    role: "server",
    loop,
    acceptStream: (stream) => mayAccept(stream) && accepted.push(stream) > 0,
  });
  server.start();
  client.start();
  return { client, server, accepted };
}

async function acceptedStream({ client, accepted }: Joined): Promise<readonly [SpdyStream, SpdyStream]> {
  const own = client.open(new Map([["streamtype", "data"]]));
  await own.replied;
  const peers = accepted.at(-1);
  if (peers === undefined) throw new Error("expected an accepted stream");
  return [own, peers];
}

/** A peer that is written and read frame by frame. */
class RawPeer {
  readonly frames: Frame[] = [];
  readonly #writer = new FrameWriter();
  readonly socket;
  readonly other;

  constructor() {
    const [socket, other] = duplexPair();
    this.socket = socket;
    this.other = other;
    const reader = new FrameReader();
    socket.on("data", (chunk: Buffer) => this.frames.push(...reader.read(chunk)));
  }

  send(frame: Exclude<Frame, { readonly type: "unknown" }>): void {
    this.socket.write(this.#writer.write(frame));
    if (frame.type === "data") this.socket.write(frame.data);
  }

  sentData(): number {
    let bytes = 0;
    for (const frame of this.frames) if (frame.type === "data") bytes += frame.data.byteLength;
    return bytes;
  }

  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) await pause(loop, TURN);
  }
}

describe("streams of SPDY", () => {
  test("carry their headers and 1 MiB in both directions at once", async () => {
    const joined = joinedConnections();
    const [own, peers] = await acceptedStream(joined);
    const data = "x".repeat(MIB);

    own.end(data);
    peers.end(data.toUpperCase());

    const [there, back] = await Promise.all([received(peers), received(own)]);
    expect(there === data).toBe(true);
    expect(back === data.toUpperCase()).toBe(true);
    expect(peers.headers.get("streamtype")).toBe("data");
    expect([joined.client.streamCount, joined.server.streamCount]).toEqual([0, 0]);
  });

  test("close each direction on its own", async () => {
    const [own, peers] = await acceptedStream(joinedConnections());

    own.end("question");
    const asked = await received(peers);
    peers.write("ans");
    peers.end("wer");

    expect([asked, await received(own)]).toEqual(["question", "answer"]);
  });

  test("a reader that is behind stops its own stream only", async () => {
    const joined = joinedConnections();
    const [slow, unread] = await acceptedStream(joined);
    slow.end(Buffer.alloc(4 * MIB));
    const [own, peers] = await acceptedStream(joined);

    own.end("passes");

    expect(await received(peers)).toBe("passes");
    expect(unread.readableLength).toBeLessThanOrEqual(WINDOW_BYTES);
    expect((await received(unread)).length).toBe(4 * MIB);
  });

  test("a refused stream tells its opener", async () => {
    const { client } = joinedConnections(() => false);
    const stream = client.open(new Map());

    await expect(stream.replied).rejects.toThrow("the peer refused stream 1");
    expect(await received(stream)).toBe("");
  });

  test("after a reset, received data stays readable and writes are dropped", async () => {
    const [own, peers] = await acceptedStream(joinedConnections());
    peers.write("last words");
    await pause(loop, TURN);
    peers.destroy();
    await finished(peers, { writable: false }).catch(() => undefined);

    own.end(Buffer.alloc(MIB));
    await finished(own, { readable: false });

    expect(await received(own)).toBe("last words");
  });

  test("close sends everything written before, and whole streams stay readable", async () => {
    const joined = joinedConnections();
    const [own, peers] = await acceptedStream(joined);
    peers.end("result");
    await finished(peers, { readable: false });
    joined.server.close();
    await joined.client.closed;

    expect(await received(own)).toBe("result");
  });

  test("a lost connection ends its streams before their end", async () => {
    const joined = joinedConnections();
    const [own] = await acceptedStream(joined);
    joined.server.destroy();

    await expect(received(own)).rejects.toThrow("Premature close");
    expect(joined.client.streamCount).toBe(0);
  });
});

describe("a peer of SPDY", () => {
  function connectedTo(peer: RawPeer, role: "client" | "server"): SpdyConnection {
    const connection = new SpdyConnection(peer.other, { role, loop, acceptStream: () => true });
    connection.start();
    return connection;
  }

  test("that announces a window gets no more data until it gives credit", async () => {
    const peer = new RawPeer();
    peer.send({ type: "settings", initialWindow: 1000 });
    const connection = connectedTo(peer, "client");
    await peer.until(() => peer.frames.some(({ type }) => type === "settings"));
    connection.open(new Map()).write(Buffer.alloc(5000));

    await peer.until(() => peer.sentData() === 1000);
    peer.send({ type: "window", streamId: 1, bytes: 500 });
    await peer.until(() => peer.sentData() === 1500);
    peer.send({ type: "window", streamId: 1, bytes: 10_000 });
    await peer.until(() => peer.sentData() === 5000);
  });

  test("that announces its window late gets credit for what it has", async () => {
    const peer = new RawPeer();
    const stream = connectedTo(peer, "client").open(new Map());
    stream.write(Buffer.alloc(5000));
    await peer.until(() => peer.sentData() === 5000);
    peer.send({ type: "settings", initialWindow: 6000 });
    peer.send({ type: "ping", id: 2 });
    await peer.until(() => peer.frames.some(({ type }) => type === "ping"));
    stream.write(Buffer.alloc(5000));
    await peer.until(() => peer.sentData() === 6000);
    peer.send({ type: "window", streamId: 1, bytes: 5000 });

    await peer.until(() => peer.sentData() === 10_000);
  });

  test("that knows no windows, as Go's, gets everything, and no window updates", async () => {
    const peer = new RawPeer();
    const stream = connectedTo(peer, "client").open(new Map());
    stream.end(Buffer.alloc(MIB));
    peer.send({ type: "reply", streamId: 1, isLast: false, headers: new Map() });
    peer.send({ type: "data", streamId: 1, isLast: true, data: Buffer.alloc(MIB) });

    expect((await received(stream)).length).toBe(MIB);
    await peer.until(() => peer.sentData() === MIB);
    expect(peer.frames.filter(({ type }) => type === "window")).toEqual([]);
  });

  test("that knows no windows is stopped while a reader is behind", async () => {
    const peer = new RawPeer();
    const connection = connectedTo(peer, "client");
    const stream = connection.open(new Map());
    const data = Buffer.alloc(64 * 1024);
    for (let left = 64; left > 0; left--) peer.send({ type: "data", streamId: 1, isLast: left === 1, data });
    await peer.until(() => peer.other.isPaused());

    expect(stream.readableLength).toBeLessThanOrEqual(WINDOW_BYTES + data.byteLength);
    expect((await received(stream)).length).toBe(4 * MIB);
  });

  test("gets answers to its pings only", async () => {
    const peer = new RawPeer();
    connectedTo(peer, "server");
    peer.send({ type: "ping", id: 2 });
    peer.send({ type: "ping", id: 3 });
    await peer.until(() => peer.frames.some(({ type }) => type === "ping"));

    expect(peer.frames.filter(({ type }) => type === "ping")).toEqual([{ type: "ping", id: 3 }]);
  });

  test.each([
    ["an even id of a client", { type: "open", streamId: 2, isLast: false, headers: new Map() }],
    ["an id that was used", { type: "open", streamId: 1, isLast: false, headers: new Map() }],
  ] as const)("loses the connection for %s", async (_name, frame) => {
    const peer = new RawPeer();
    const connection = connectedTo(peer, "server");
    peer.send({ type: "open", streamId: 1, isLast: false, headers: new Map() });
    peer.send(frame);

    await connection.closed;
    expect(peer.frames.at(-1)).toMatchObject({ type: "go-away", status: 1 });
  });

  test("may open only so many streams", async () => {
    const peer = new RawPeer();
    connectedTo(peer, "server");
    for (let id = 1; id < 2 * 2100; id += 2)
      peer.send({ type: "open", streamId: id, isLast: false, headers: new Map() });
    await peer.until(() => peer.frames.filter(({ type }) => type === "reset").length === 100);

    expect(peer.frames.filter(({ type }) => type === "reply")).toHaveLength(2000);
  });

  test("that resets its streams may not open more than the server has closed", async () => {
    const peer = new RawPeer();
    connectedTo(peer, "server");
    for (let id = 1; id < 2 * 2100; id += 2) {
      peer.send({ type: "open", streamId: id, isLast: false, headers: new Map() });
      peer.send({ type: "reset", streamId: id, status: 5 });
    }
    await peer.until(() => peer.frames.filter(({ type }) => type === "reset").length === 100);

    expect(peer.frames.filter(({ type }) => type === "reply")).toHaveLength(2000);
  });

  test.each([
    ["whole windows", { size: WINDOW_BYTES, count: 40, held: 8 * MIB }],
    ["single bytes", { size: 1, count: 60_000, held: 40_000 }],
  ])("fills the memory of unread streams to a bound: %s", async (_name, { size, count, held }) => {
    const peer = new RawPeer();
    const streams: SpdyStream[] = [];
    const acceptStream = (stream: SpdyStream): boolean => streams.push(stream) > 0;
    new SpdyConnection(peer.other, { role: "server", loop, acceptStream }).start();
    const data = Buffer.alloc(size);
    for (let id = 0; id < 60; id++)
      peer.send({ type: "open", streamId: 2 * id + 1, isLast: false, headers: new Map() });
    for (let sent = 0; sent < count; sent++)
      peer.send({ type: "data", streamId: 2 * (sent % 60) + 1, isLast: false, data });
    const unread = (): number => streams.reduce((sum, { readableLength }) => sum + readableLength, 0);
    await peer.until(() => unread() >= held);
    for (let turn = 0; turn < 50; turn++) await pause(loop, TURN);

    expect(unread()).toBeLessThanOrEqual(1.1 * held);
    let read = 0;
    for (const stream of streams) stream.on("data", (piece: Buffer) => (read += piece.byteLength));
    await peer.until(() => read === count * size);
  });

  test("with thousands of frames at once leaves turns to other work", async () => {
    const peer = new RawPeer();
    const connection = new SpdyConnection(peer.other, { role: "server", loop });
    connection.start();
    const writer = new FrameWriter();
    const frames = Array.from({ length: 20_000 }, (_, index) =>
      writer.write({ type: "open", streamId: 2 * index + 1, isLast: false, headers: new Map() }),
    );
    const answers = (): number => peer.frames.filter(({ type }) => type === "reset").length;
    peer.socket.write(Buffer.concat(frames));
    await new Promise<void>((resolve) => loop.post("request", resolve));

    expect(answers()).toBeLessThan(20_000);
    await peer.until(() => answers() === 20_000);
  });

  test("that reads nothing is cut before its answers fill the memory", async () => {
    const [left, right] = duplexPair();
    const connection = new SpdyConnection(right, { role: "server", loop });
    connection.start();
    const ping = new FrameWriter().write({ type: "ping", id: 1 });
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    left.on("error", () => undefined);
    const flood = async (): Promise<void> => {
      while (!left.destroyed) {
        left.write(pings);
        await pause(loop, TURN);
      }
    };

    await Promise.race([flood(), connection.closed]);
    expect(right.destroyed).toBe(true);
  });
});
