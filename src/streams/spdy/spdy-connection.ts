/**
 * SPDY/3.1 on a connection, as Kubernetes uses it for exec, attach and port forwarding. Go's implementation there neither
 * sends nor reads window updates. So windows count only towards a peer that announces one; each side announces its own in
 * its first frame. Towards other peers, a reader that falls a window behind stops the whole connection.
 */
import type { Duplex } from "node:stream";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { FrameReader, FrameWriter, RESET } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { SpdyHeaders } from "./header-block.ts";
import { SpdyError } from "./spdy-error.ts";
import { SpdyStream, WINDOW_BYTES } from "./spdy-stream.ts";
import type { StreamPort } from "./spdy-stream.ts";

export interface SpdyOptions {
  /** Clients number their streams oddly, servers evenly. */
  readonly role: "client" | "server";
  readonly loop: Loop;
  /** Bytes received already, behind the HTTP upgrade. */
  readonly head?: Uint8Array;
  /** Decides about a stream that the peer opens. The reply is sent when this returns, so write later. Default: every stream is refused. */
  readonly acceptStream?: (stream: SpdyStream) => boolean;
}

/** Streams of a peer that are open, or reset and still in use here. Port forwarding opens two for each connection. */
const STREAMS_MAX = 2000;
/** Received bytes that wait for readers, over all streams. Above it the connection is not read. */
const UNREAD_BYTES_MAX = 32 * WINDOW_BYTES;
/** Length of a step. A chunk holds thousands of frames, and each block of headers costs an inflater. */
const STEP_MS = 5;
/** Unsent bytes at which a peer that reads nothing is cut. Data alone waits for room, so these are answers to frames. */
const UNSENT_BYTES_MAX = 1024 * 1024;

/** Time for the peer to read the rest and to close, after the own end. */
const LINGER_MS = 5000;

type StreamFrame = Extract<Frame, { readonly type: "reply" | "data" | "reset" | "window" }>;

export class SpdyConnection {
  /** Resolves when the socket has closed. */
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #reader = new FrameReader();
  readonly #writer = new FrameWriter();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #blocked = new Set<SpdyStream>();
  readonly #behind = new Set<SpdyStream>();
  readonly #port: StreamPort;
  /** Initial window that the peer announced. */
  #peerWindow: number | undefined;
  /** Chunks of the peer whose frames are not handled yet. */
  readonly #chunks: Buffer[] = [];
  /** Set while frames wait for a later step. */
  #frames: Generator<Frame> | undefined;
  /** Bytes that wait for readers. */
  #unread = 0;
  #isPaused = false;
  /** Streams of the peer that are not closed; a reset alone does not close one. */
  #peerStreams = 0;
  #nextId: number;
  #lastPeerId = 0;
  #isClosing = false;
  #late: Timer | undefined;

  constructor(socket: Duplex, options: SpdyOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextId = options.role === "client" ? 1 : 2;
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    const hasWindows = (): boolean => this.#peerWindow !== undefined;
    this.#port = {
      get hasWindows() {
        return hasWindows();
      },
      send: (stream, frame) => this.#sendFor(stream, frame),
      noteBacklog: (stream, isBehind) => this.#noteBacklog(stream, isBehind),
      noteUnread: (bytes) => this.#noteUnread(bytes),
      forget: (stream) => this.#forget(stream),
    };
  }

  /** Number of open streams. */
  get streamCount(): number {
    return this.#streams.size;
  }

  start(): void {
    const socket = this.#socket;
    socket.on("error", () => undefined);
    socket.on("drain", () => this.#resumeStreams());
    socket.once("close", () => this.#closed());
    socket.once("end", () => this.#peerLeft());
    this.#send({ type: "settings", initialWindow: WINDOW_BYTES });
    const { head } = this.#options;
    if (head !== undefined && head.byteLength > 0) this.#take(Buffer.from(head));
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /** Opens a stream. Await for `replied` where the peer's consent matters. */
  open(headers: SpdyHeaders): SpdyStream {
    const stream = this.#makeStream(this.#nextId, headers);
    this.#nextId += 2;
    this.#send({ type: "open", streamId: stream.id, isLast: false, headers });
    return stream;
  }

  /** Sends everything written so far, then closes. Streams that are still open are reset. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const streamId of this.#streams.keys())
      this.#send({ type: "reset", streamId, status: RESET.cancel });
    this.#send({ type: "go-away", lastStreamId: this.#lastPeerId, status: 0 });
    this.#endSocket();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #makeStream(id: number, headers: SpdyHeaders): SpdyStream {
    const sendWindow = this.#peerWindow ?? Number.POSITIVE_INFINITY;
    const stream = new SpdyStream({ id, headers, port: this.#port, sendWindow });
    this.#streams.set(id, stream);
    if (this.#socket.destroyed) stream.destroy();
    return stream;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    if (this.#frames === undefined) this.#handle(this.#received());
  }

  *#received(): Generator<Frame> {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift())
      yield* this.#reader.read(chunk);
  }

  /** Handles frames until the step has run long. The socket is paused until a later step has handled the rest. */
  #handle(frames: Generator<Frame>): void {
    const { loop } = this.#options;
    const since = loop.elapsed();
    this.#frames = frames;
    try {
      for (let next = frames.next(); next.done !== true; next = frames.next()) {
        this.#takeFrame(next.value);
        if (this.#socket.destroyed) return;
        if (loop.elapsed() - since < STEP_MS) continue;
        this.#regulate();
        loop.post("background", () => this.#handle(frames));
        return;
      }
      this.#frames = undefined;
      this.#regulate();
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.#send({ type: "go-away", lastStreamId: this.#lastPeerId, status: RESET.protocolError });
      this.#socket.destroy(error);
    }
  }

  #takeFrame(frame: Frame): void {
    switch (frame.type) {
      case "open":
        return this.#takeOpen(frame);
      case "settings":
        return this.#takeSettings(frame.initialWindow);
      case "ping":
        return this.#takePing(frame.id);
      case "reply":
      case "data":
      case "reset":
      case "window":
        return this.#takeStreamFrame(frame, this.#streams.get(frame.streamId));
      case "headers":
      case "go-away":
      case "unknown":
        return undefined;
    }
  }

  /** Frames of a stream that is over are dropped. */
  #takeStreamFrame(frame: StreamFrame, stream: SpdyStream | undefined): void {
    if (frame.type === "reset") return stream?.takeReset();
    if (frame.type === "window") {
      if (this.#peerWindow !== undefined) stream?.takeWindow(frame.bytes);
      return undefined;
    }
    if (frame.type === "reply") stream?.takeReply();
    else stream?.takeData(frame.data);
    return frame.isLast ? stream?.takeLast() : undefined;
  }

  #takeOpen({ streamId, isLast, headers }: Extract<Frame, { readonly type: "open" }>): void {
    const isPeers = streamId % 2 === (this.#options.role === "client" ? 0 : 1);
    if (!isPeers || streamId <= this.#lastPeerId)
      throw new SpdyError(`expected a new stream id of the peer, found ${streamId}`);
    this.#lastPeerId = streamId;
    const stream = this.#makeStream(streamId, headers);
    const mayOpen = this.#peerStreams < STREAMS_MAX && !this.#isClosing;
    if (!mayOpen || this.#options.acceptStream?.(stream) !== true) {
      this.#streams.delete(streamId);
      this.#send({ type: "reset", streamId, status: RESET.refusedStream });
      return;
    }
    this.#peerStreams++;
    stream.once("close", () => this.#peerStreams--);
    this.#send({ type: "reply", streamId, isLast: false, headers: new Map() });
    if (isLast) stream.takeLast();
  }

  #takeSettings(initialWindow: number | undefined): void {
    if (initialWindow === undefined) return;
    const before = this.#peerWindow;
    this.#peerWindow = initialWindow;
    for (const stream of this.#streams.values()) stream.changeWindow(initialWindow, before);
  }

  /** Answers a ping of the peer; other pings are answers to own ones. */
  #takePing(id: number): void {
    if (id % 2 === (this.#options.role === "client" ? 1 : 0)) return;
    this.#send({ type: "ping", id });
  }

  #sendFor(stream: SpdyStream, frame: Exclude<Frame, { readonly type: "unknown" }>): boolean {
    if (this.#isClosing || !this.#streams.has(stream.id)) return true;
    if (this.#send(frame)) return true;
    if (frame.type === "data") this.#blocked.add(stream);
    return false;
  }

  #send(frame: Exclude<Frame, { readonly type: "unknown" }>): boolean {
    const socket = this.#socket;
    if (!socket.writable) return true;
    if (socket.writableLength > UNSENT_BYTES_MAX) {
      socket.destroy();
      return true;
    }
    const bytes = this.#writer.write(frame);
    if (frame.type !== "data" || frame.data.byteLength === 0) return socket.write(bytes);
    socket.cork();
    socket.write(bytes);
    const hasRoom = socket.write(frame.data);
    socket.uncork();
    return hasRoom;
  }

  #resumeStreams(): void {
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    for (const stream of blocked) stream.resumeSending();
  }

  #noteBacklog(stream: SpdyStream, isBehind: boolean): void {
    if (isBehind) this.#behind.add(stream);
    else this.#behind.delete(stream);
    this.#regulate();
  }

  #noteUnread(bytes: number): void {
    this.#unread += bytes;
    this.#regulate();
  }

  /** Reads the socket no faster than frames are handled and streams are read. */
  #regulate(): void {
    const isFull = this.#behind.size > 0 || this.#unread > UNREAD_BYTES_MAX;
    const hasFrames = this.#frames !== undefined;
    if ((isFull || hasFrames) === this.#isPaused) return;
    this.#isPaused = !this.#isPaused;
    if (this.#isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  #forget(stream: SpdyStream): void {
    this.#streams.delete(stream.id);
    this.#blocked.delete(stream);
  }

  /** The peer sends nothing more. Streams cannot get an answer, so the connection ends. */
  #peerLeft(): void {
    this.#endSocket();
  }

  /** A socket that is destroyed while bytes of the peer are unread loses the bytes that the peer has not read. */
  #endSocket(): void {
    const { loop } = this.#options;
    this.#socket.end();
    this.#socket.resume();
    this.#late ??= loop.timer(loop.now() + LINGER_MS, "periodic", () => void this.#socket.destroy());
  }

  #closed(): void {
    this.#late?.cancel();
    for (const stream of this.#streams.values()) stream.noteClosed();
  }
}
