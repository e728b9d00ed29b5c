/** Client side of exec and attach. */
import type { Duplex, Readable, Writable } from "node:stream";
import type { Loop } from "../../base/loop/loop.ts";
import { SpdyConnection } from "../spdy/spdy-connection.ts";
import { requestUpgrade } from "../upgrade.ts";
import { Channels } from "../websocket/channels.ts";
import { connectWebSocket } from "../websocket/connect-web-socket.ts";
import { parseResult } from "./command-result.ts";
import type { CommandResult } from "./command-result.ts";
import { readResultText } from "./command-streams.ts";
import type { CommandStreams } from "./command-streams.ts";
import { SPDY_PROTOCOLS, STREAM_NAMES, streamsOf, WEBSOCKET_PROTOCOLS } from "./protocols.ts";
import type { CommandOptions, CommandProtocol, StreamName } from "./protocols.ts";
import { terminalSizeText } from "./terminal-size.ts";
import type { TerminalSize } from "./terminal-size.ts";

export interface CommandTarget {
  /** Path and query. */
  readonly path: string;
  /** Value of the Host header. */
  readonly authority: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly options: CommandOptions;
  /** Names of the protocols to offer, best first. */
  readonly protocols: readonly string[];
  readonly loop: Loop;
}

/** Connects over SPDY on `socket`. Rejects with UpgradeRefused, or when the connection fails. */
export async function openSpdyCommand(socket: Duplex, target: CommandTarget): Promise<CommandStreams> {
  const { path, authority, headers, options, protocols, loop } = target;
  const upgraded = await requestUpgrade(socket, {
    method: "POST",
    path,
    authority,
    protocol: "SPDY/3.1",
    headers: { ...headers, "x-stream-protocol-version": protocols },
  });
  const name = String(upgraded.headers["x-stream-protocol-version"] ?? "");
  return spdyStreams(upgraded, { protocol: protocolNamed(SPDY_PROTOCOLS, name), options, loop });
}

interface SpdyCommand {
  readonly protocol: CommandProtocol;
  readonly options: CommandOptions;
  readonly loop: Loop;
}

/** Time for a server to accept the streams, as upstream's clients give. */
const REPLY_MS = 30_000;

/** Opens the streams of a command on a connection that has switched to SPDY. */
export async function spdyStreams(
  { socket, head }: { readonly socket: Duplex; readonly head: Uint8Array },
  { protocol, options, loop }: SpdyCommand,
): Promise<CommandStreams> {
  const connection = new SpdyConnection(socket, { role: "client", loop, head });
  connection.start();
  const streams = new Map<StreamName, Duplex>();
  const late = loop.timer(loop.now() + REPLY_MS, "periodic", () => connection.destroy());
  try {
    for (const name of streamsOf(options, protocol)) {
      const stream = connection.open(new Map([["streamtype", name]]));
      streams.set(name, stream);
      await stream.replied;
    }
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    late.cancel();
  }
  return {
    protocol,
    streams,
    closed: connection.closed,
    close: () => connection.close(),
    destroy: () => connection.destroy(),
  };
}

/** Connects over a WebSocket on `socket`. */
export async function openWebSocketCommand(socket: Duplex, target: CommandTarget): Promise<CommandStreams> {
  const { path, authority, headers, options, protocols } = target;
  const connected = await connectWebSocket(socket, { path, authority, protocols, headers });
  const protocol = protocolNamed(WEBSOCKET_PROTOCOLS, connected.protocol);
  const channels = new Channels(connected.messages, {
    isBase64: protocol.isBase64,
    closes: protocol.hasClose ? "own" : "none",
  });
  const names = streamsOf(options, protocol);
  return {
    protocol,
    streams: new Map(names.map((name) => [name, channels.open(STREAM_NAMES.indexOf(name))])),
    closed: channels.closed,
    close: () => channels.close(),
    destroy: () => channels.destroy(),
  };
}

function protocolNamed(supported: readonly CommandProtocol[], name: string): CommandProtocol {
  const found = supported.find((each) => each.name === name);
  if (found === undefined) throw new Error(`expected a known protocol, found ${JSON.stringify(name)}`);
  return found;
}

/** A running command, as its client sees it. */
export interface RemoteCommand {
  /** Ending it closes the command's stdin, where the protocol can. Undefined if not asked for, as the others. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** No-op without a terminal. */
  readonly resize: (size: TerminalSize) => void;
  readonly result: Promise<CommandResult>;
  readonly close: () => void;
}

export function remoteCommand(command: CommandStreams): RemoteCommand {
  const { streams, protocol } = command;
  const resize = streams.get("resize");
  for (const name of ["stdin", "resize"] as const) streams.get(name)?.resume();
  return {
    stdin: streams.get("stdin"),
    stdout: streams.get("stdout"),
    stderr: streams.get("stderr"),
    resize: (size) => void resize?.write(terminalSizeText(size)),
    result: readResultText(command).then((text) => parseResult(text, protocol)),
    close: () => command.close(),
  };
}
