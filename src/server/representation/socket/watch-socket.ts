/** Serves a watch over a WebSocket, one event a message, for browser programs and libraries without another stream. */
import { Duplex } from "node:stream";
import { badRequest } from "../../../api/errors/api-error.ts";
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import type { WatchEventAnswer } from "../../request/answer.ts";
import type { Feed, AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { spokenProtocols } from "../../request/websocket-token.ts";
import type { FrameWriter } from "../watch-frames.ts";
import { acceptKey, ClientFrames, serverFrame } from "./frames.ts";

/** The only version of the protocol in use. */
const VERSION = "13";
/**
 * Time for which a client may read nothing or leave a close frame unanswered; equals the stall timeout of other
 * streams.
 */
const PATIENCE_MS = 60_000;
/** Base64 of 16 bytes. */
const KEY = /^[A-Za-z0-9+/]{22}==$/;

export function asksForSocket({ isUpgrade, headers }: AcceptedRequest): boolean {
  return isUpgrade === true && headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** Headers of the 101 response. Throws BadRequest when required headers are missing or invalid. */
export function socketHeaders({ headers }: AcceptedRequest): ReadonlyMap<string, string> {
  const key = headers.get("sec-websocket-key") ?? "";
  if (!KEY.test(key) || headers.get("sec-websocket-version") !== VERSION)
    throw badRequest(
      "a WebSocket request needs a Sec-WebSocket-Key of 16 bytes and Sec-WebSocket-Version 13",
    );
  const protocols = spokenProtocols(headers.get("sec-websocket-protocol"));
  if (protocols.length > 1) throw badRequest("a watch accepts at most one WebSocket protocol");
  return new Map([
    ["upgrade", "websocket"],
    ["connection", "Upgrade"],
    ["sec-websocket-accept", acceptKey(key)],
    ...protocols.map((name) => ["sec-websocket-protocol", name] as const),
  ]);
}

export function socketResponse(feed: Feed, headers: ReadonlyMap<string, string>, loop: Loop): HttpResponse {
  const head = new Uint8Array();
  return { status: 101, headers, body: head, switched: { stream: new WatchSocket(feed, loop), head } };
}

/** Wraps the frames of another writer as messages: text for JSON, binary for protobuf without its length prefix. */
export class SocketFrames implements FrameWriter {
  readonly name: string | undefined;
  readonly #inner: FrameWriter;
  readonly #type: "text" | "binary";

  constructor(inner: FrameWriter, type: "text" | "binary") {
    this.name = inner.name === undefined ? undefined : `socket ${inner.name}`;
    this.#inner = inner;
    this.#type = type;
  }

  frame(event: WatchEventAnswer): Uint8Array {
    const frame = this.#inner.frame(event);
    return serverFrame(this.#type, this.#type === "text" ? frame : frame.subarray(LENGTH_BYTES));
  }

  *parts(event: WatchEventAnswer): Generator<Uint8Array> {
    yield this.frame(event);
  }
}

const LENGTH_BYTES = 4;

/** The upgraded connection: its readable side is the frames of a feed, its writable side handles control frames. */
class WatchSocket extends Duplex {
  readonly #feed: Feed;
  readonly #loop: Loop;
  readonly #frames = new ClientFrames();
  #isStarted = false;
  #isFull = false;
  #isOver = false;
  /** Continues reading from a client that pings without reading the pongs, once it reads again. */
  #onRoom: (() => void) | undefined;
  /** Set while the server waits for the client to read or close. */
  #late: Timer | undefined;

  constructor(feed: Feed, loop: Loop) {
    super();
    this.#feed = feed;
    this.#loop = loop;
  }

  override _read(): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#feed.start({ send: (piece) => this.#send(piece), end: (error) => this.#end(error) });
    } else if (this.#isFull) {
      this.#isFull = false;
      this.#late?.cancel();
      this.#feed.resume();
    }
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom?.();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    let hasRoom = true;
    for (const { type, content } of this.#frames.take(chunk)) {
      if (type === "ping" && !this.#isOver) hasRoom = this.push(serverFrame("pong", content));
      if (type === "close" || type === "broken") this.#leave(content);
    }
    if (hasRoom) done();
    else this.#onRoom = done;
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#late?.cancel();
    this.#feed.stop();
    done(error);
  }

  #send(piece: Uint8Array): boolean {
    if (this.#isOver) return false;
    this.#isFull = !this.push(piece);
    if (this.#isFull) this.#awaitClient();
    return !this.#isFull;
  }

  #end(error: unknown): void {
    if (error === undefined) this.#close(new Uint8Array());
    else this.destroy();
  }

  /** The response to a close frame repeats its content. */
  #leave(words: Uint8Array): void {
    this.#feed.stop();
    this.#close(words);
  }

  #close(words: Uint8Array): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.push(serverFrame("close", words));
    this.push(null);
    this.#awaitClient();
  }

  #awaitClient(): void {
    const loop = this.#loop;
    this.#late?.cancel();
    this.#late = loop.timer(loop.now() + PATIENCE_MS, "periodic", () => void this.destroy());
  }
}
