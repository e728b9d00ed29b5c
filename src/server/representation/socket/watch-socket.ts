/** Serves a watch over a WebSocket, one event a message, for browser programs and libraries without another stream. */
import { badRequest } from "../../../api/errors/api-error.ts";
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import { offerWebSocket } from "../../../streams/websocket/accept-web-socket.ts";
import type { MessageStream } from "../../../streams/websocket/message-stream.ts";
import type { AcceptedRequest, Feed, HttpResponse } from "../../request/http.ts";
import { spokenProtocols } from "../../request/websocket-token.ts";
import { FeedMessages } from "./feed-messages.ts";

/**
 * Time for which a client may read nothing or leave a close frame unanswered; equals the stall timeout of other
 * streams.
 */
const PATIENCE_MS = 60_000;

export function asksForSocket({ isUpgrade, headers }: AcceptedRequest): boolean {
  return isUpgrade === true && headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** Form of the messages, and the loop that bounds the client's silence. */
interface SocketTools {
  readonly type: "text" | "binary";
  readonly loop: Loop;
}

/** The 101 response. Throws BadRequest for a handshake that is not valid. */
export function socketResponse(
  feed: Feed,
  { headers: asked }: Pick<AcceptedRequest, "headers">,
  { type, loop }: SocketTools,
): HttpResponse {
  const protocols = spokenProtocols(asked.get("sec-websocket-protocol"));
  if (protocols.length > 1) throw badRequest("a watch accepts at most one WebSocket protocol");
  const { messages, headers, stream } = offerWebSocket(asked, protocols[0] ?? "");
  if (messages === undefined)
    throw badRequest(
      "a WebSocket request needs a Sec-WebSocket-Key of 16 bytes and Sec-WebSocket-Version 13",
    );
  new WatchSocket(feed, messages, loop).start(new FeedMessages(type));
  return {
    status: 101,
    headers,
    body: new Uint8Array(),
    switched: { stream, head: new Uint8Array() },
  };
}

class WatchSocket {
  readonly #feed: Feed;
  readonly #messages: MessageStream;
  readonly #loop: Loop;
  /** Set while the server waits for the client to read or close. */
  #late: Timer | undefined;

  constructor(feed: Feed, messages: MessageStream, loop: Loop) {
    this.#feed = feed;
    this.#messages = messages;
    this.#loop = loop;
  }

  start(cut: FeedMessages): void {
    const messages = this.#messages;
    messages.on("drain", () => {
      this.#late?.cancel();
      this.#feed.resume();
    });
    messages.once("close", () => {
      this.#late?.cancel();
      this.#feed.stop();
    });
    // A watch expects no messages of the client.
    messages.resume();
    this.#feed.start({
      send: (piece) => {
        for (const message of cut.take(piece)) messages.write(message);
        if (messages.writableNeedDrain) this.#awaitClient();
        return !messages.writableNeedDrain;
      },
      end: (error) => {
        if (error !== undefined) messages.destroy();
        else messages.end();
        this.#awaitClient();
      },
    });
  }

  #awaitClient(): void {
    const loop = this.#loop;
    this.#late?.cancel();
    this.#late = loop.timer(loop.now() + PATIENCE_MS, "periodic", () => void this.#messages.destroy());
  }
}
