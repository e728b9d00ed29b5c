/** Server side of exec and attach: accepts the connection of a client and waits for its streams. */
import type { Duplex } from "node:stream";
import type { Loop } from "../../base/loop/loop.ts";
import { SpdyConnection } from "../spdy/spdy-connection.ts";
import type { SpdyStream } from "../spdy/spdy-stream.ts";
import { acceptUpgrade, refuseUpgrade } from "../upgrade.ts";
import type { UpgradeRequest } from "../upgrade.ts";
import { acceptWebSocket, chosenProtocol, protocolsIn } from "../websocket/accept-web-socket.ts";
import { Channels } from "../websocket/channels.ts";
import type { MessageStream } from "../websocket/message-stream.ts";
import { dropInput } from "./command-streams.ts";
import type { CommandStreams } from "./command-streams.ts";
import { SPDY_PROTOCOLS, STREAM_NAMES, streamsOf, WEBSOCKET_PROTOCOLS } from "./protocols.ts";
import type { CommandOptions, CommandProtocol, StreamName } from "./protocols.ts";

/** Time for a client to open its streams, as upstream's kubelet gives. */
const STREAMS_MS = 30_000;

export interface CommandRequest {
  readonly upgrade: UpgradeRequest;
  readonly options: CommandOptions;
  readonly loop: Loop;
}

/** Undefined if the client was refused, left, or opened too few streams; it has got its answer then. */
export async function acceptCommand(request: CommandRequest): Promise<CommandStreams | undefined> {
  const { upgrade } = request;
  upgrade.socket.on("error", () => undefined);
  const protocolName = upgrade.headers.upgrade?.toLowerCase();
  if (protocolName === "websocket") return acceptOnWebSocket(request);
  if (protocolName === "spdy/3.1") return acceptOnSpdy(request);
  refuseUpgrade(upgrade, 400, "unable to upgrade: expected the header Upgrade: SPDY/3.1 or websocket");
  return undefined;
}

function acceptOnWebSocket({ upgrade, options }: CommandRequest): CommandStreams | undefined {
  const requested = protocolsIn(upgrade.headers["sec-websocket-protocol"]);
  const protocol = protocolOf(WEBSOCKET_PROTOCOLS, requested);
  if (protocol === undefined) return refuseProtocols(upgrade, requested, WEBSOCKET_PROTOCOLS);
  const messages = acceptWebSocket(upgrade, protocol.name);
  return messages === undefined ? undefined : channelStreams(messages, options, protocol);
}

/** The channels of a client's WebSocket. Tells the client with an empty message that the command is connected. */
export function channelStreams(
  messages: MessageStream,
  options: CommandOptions,
  protocol: CommandProtocol,
): CommandStreams {
  const channels = new Channels(messages, {
    isBase64: protocol.isBase64,
    closes: protocol.hasClose ? "peer" : "none",
  });
  const names = streamsOf({ ...options, stderr: options.stderr && !options.tty }, protocol);
  const streams = new Map(names.map((name) => [name, channels.open(STREAM_NAMES.indexOf(name))]));
  dropInput(streams);
  const first = streams.get("stdout") ?? streams.get("stderr") ?? streams.get("error");
  first?.write(Buffer.alloc(0));
  return {
    protocol,
    streams,
    closed: channels.closed,
    close: () => channels.close(),
    destroy: () => channels.destroy(),
  };
}

async function acceptOnSpdy({ upgrade, options, loop }: CommandRequest): Promise<CommandStreams | undefined> {
  const requested = protocolsIn(textOf(upgrade.headers["x-stream-protocol-version"]));
  const protocol = requested.length === 0 ? SPDY_PROTOCOLS.at(-1) : protocolOf(SPDY_PROTOCOLS, requested);
  if (protocol === undefined) return refuseProtocols(upgrade, requested, SPDY_PROTOCOLS);
  acceptUpgrade(upgrade, "SPDY/3.1", { "X-Stream-Protocol-Version": protocol.name });
  const expected = streamsOf(options, protocol);
  const streams = new Map<StreamName, Duplex>();
  return new Promise((resolve) => {
    const settle = (result: CommandStreams | undefined): void => {
      late.cancel();
      dropInput(streams);
      resolve(result);
    };
    const acceptStream = (stream: SpdyStream): boolean => {
      const name = expected.find((each) => each === stream.headers.get("streamtype"));
      if (name === undefined || streams.has(name)) return false;
      streams.set(name, stream);
      if (streams.size === expected.length) loop.post("request", () => settle(result));
      return true;
    };
    const connection = new SpdyConnection(upgrade.socket, {
      role: "server",
      loop,
      head: upgrade.head,
      acceptStream,
    });
    const late = loop.timer(loop.now() + STREAMS_MS, "periodic", () => connection.close());
    const result: CommandStreams = {
      protocol,
      streams,
      closed: connection.closed,
      close: () => connection.close(),
      destroy: () => connection.destroy(),
    };
    void connection.closed.then(() => settle(undefined));
    connection.start();
  });
}

function protocolOf(
  supported: readonly CommandProtocol[],
  requested: readonly string[],
): CommandProtocol | undefined {
  const name = chosenProtocol(
    requested,
    supported.map((each) => each.name),
  );
  return supported.find((each) => each.name === name);
}

function refuseProtocols(
  upgrade: UpgradeRequest,
  requested: readonly string[],
  supported: readonly CommandProtocol[],
): undefined {
  const names = supported.map(({ name }) => name).join(", ");
  const text = `client supports ${requested.join(", ")}; server supports ${names}`;
  refuseUpgrade(upgrade, 403, `unable to upgrade: unable to negotiate protocol: ${text}`);
  return undefined;
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value ?? []).join(", ");
}
