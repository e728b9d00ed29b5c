/** Server side of port forwarding: each connection of a client is a pair of streams, data and error. */
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorText } from "../../base/error-text.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { SpdyConnection } from "../spdy/spdy-connection.ts";
import type { SpdyStream } from "../spdy/spdy-stream.ts";
import { acceptUpgrade, refuseUpgrade } from "../upgrade.ts";
import type { UpgradeRequest } from "../upgrade.ts";
import { acceptWebSocket, chosenProtocol, protocolsIn } from "../websocket/accept-web-socket.ts";
import { Channels } from "../websocket/channels.ts";
import { MessageBytes, TUNNEL_PROTOCOL } from "./message-bytes.ts";

export const PORT_FORWARD_PROTOCOL = "portforward.k8s.io";

/** Time for the second stream of a pair, as upstream's kubelet gives. */
const PAIR_MS = 30_000;

export interface PortForwardRequest {
  readonly upgrade: UpgradeRequest;
  /** Query of the request. Clients without SPDY name the ports in it. */
  readonly query: URLSearchParams;
  readonly loop: Loop;
  /** Connects to a port of the pod. The client gets the text of its error. */
  readonly connect: (port: number) => Duplex | Promise<Duplex>;
}

/** Resolves when the client has left or was refused. */
export async function acceptPortForward(request: PortForwardRequest): Promise<void> {
  const { upgrade } = request;
  upgrade.socket.on("error", () => undefined);
  const protocol = upgrade.headers.upgrade?.toLowerCase();
  if (protocol === "spdy/3.1") return acceptOnSpdy(request);
  if (protocol === "websocket") return acceptOnWebSocket(request);
  return refuseUpgrade(upgrade, 400, "unable to upgrade: expected the header Upgrade: SPDY/3.1 or websocket");
}

async function acceptOnSpdy(request: PortForwardRequest): Promise<void> {
  const { upgrade } = request;
  const header = upgrade.headers["x-stream-protocol-version"];
  const requested = protocolsIn(Array.isArray(header) ? header.join(",") : header);
  if (requested.length > 0 && !requested.includes(PORT_FORWARD_PROTOCOL)) {
    const text = `client supports ${requested.join(", ")}; server supports ${PORT_FORWARD_PROTOCOL}`;
    return refuseUpgrade(upgrade, 403, `unable to upgrade: unable to negotiate protocol: ${text}`);
  }
  acceptUpgrade(upgrade, "SPDY/3.1", { "X-Stream-Protocol-Version": PORT_FORWARD_PROTOCOL });
  await new ForwardedPorts(request).serve(upgrade.socket, upgrade.head);
}

/** The old form: the ports are in the query, and each has a channel for data and one for errors. */
const OLD_PROTOCOLS = ["v4.channel.k8s.io", "v4.base64.channel.k8s.io", ""];

async function acceptOnWebSocket(request: PortForwardRequest): Promise<void> {
  const { upgrade } = request;
  const requested = protocolsIn(upgrade.headers["sec-websocket-protocol"]);
  const protocol = chosenProtocol(requested, [TUNNEL_PROTOCOL, ...OLD_PROTOCOLS]);
  if (protocol === undefined)
    return refuseUpgrade(upgrade, 403, `unable to upgrade: unsupported protocols ${requested.join(", ")}`);
  const ports = request.query
    .getAll("port")
    .flatMap((text) => text.split(","))
    .map(Number);
  const isTunnel = protocol === TUNNEL_PROTOCOL;
  if (!isTunnel && (ports.length === 0 || ports.length > PORTS_MAX || !ports.every(isPort)))
    return refuseUpgrade(upgrade, 400, "expected the query parameter port with numbers from 1 to 65535");
  const messages = acceptWebSocket(upgrade, protocol);
  if (messages === undefined) return undefined;
  if (isTunnel) return new ForwardedPorts(request).serve(new MessageBytes(messages), Buffer.alloc(0));
  const channels = new Channels(messages, { isBase64: protocol.includes("base64"), closes: "none" });
  const flows = ports.map((port, index) => {
    const [data, error] = [channels.open(2 * index), channels.open(2 * index + 1)];
    const announcement = Buffer.from([port & 0xff, port >> 8]);
    for (const channel of [data, error]) channel.write(announcement);
    return forward({ port, data, error }, request);
  });
  await Promise.all(flows);
  channels.close();
  return channels.closed;
}

const PORTS_MAX = 100;

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

interface StreamPair {
  readonly port: number;
  readonly data: Duplex;
  readonly error: Duplex;
}

async function forward({ port, data, error }: StreamPair, { connect }: PortForwardRequest): Promise<void> {
  error.resume();
  try {
    const connection = await connect(port);
    connection.on("error", () => undefined);
    if (data.destroyed) connection.destroy();
    // Each direction ends on its own; a broken one closes the whole connection.
    await Promise.all([pipeline(connection, data), pipeline(data, connection)].map(withoutError));
    connection.destroy();
  } catch (cause) {
    if (error.writable) error.write(`error forwarding port ${port}: ${errorText(cause)}`);
  }
  error.end();
  data.end();
  data.resume();
}

async function withoutError(flow: Promise<void>): Promise<void> {
  await flow.catch(() => undefined);
}

interface HalfPair {
  readonly stream: SpdyStream;
  readonly type: "data" | "error";
  readonly late: Timer;
}

/** Pairs the streams of a SPDY connection. */
class ForwardedPorts {
  readonly #request: PortForwardRequest;
  /** Streams without their second, by the id of their request. */
  readonly #halves = new Map<string, HalfPair>();

  constructor(request: PortForwardRequest) {
    this.#request = request;
  }

  async serve(socket: Duplex, head: Uint8Array): Promise<void> {
    const { loop } = this.#request;
    const connection = new SpdyConnection(socket, {
      role: "server",
      loop,
      head,
      acceptStream: (stream) => this.#accept(stream),
    });
    connection.start();
    await connection.closed;
    for (const { late } of this.#halves.values()) late.cancel();
  }

  #accept(stream: SpdyStream): boolean {
    const { loop } = this.#request;
    const type = stream.headers.get("streamtype");
    const port = Number(stream.headers.get("port"));
    if ((type !== "data" && type !== "error") || !isPort(port)) return false;
    const id = requestIdOf(stream, type);
    const half = this.#halves.get(id);
    if (half?.type === type) return false;
    if (half === undefined) {
      const late = loop.timer(loop.now() + PAIR_MS, "periodic", () => this.#drop(id));
      this.#halves.set(id, { stream, type, late });
      return true;
    }
    half.late.cancel();
    this.#halves.delete(id);
    const [data, error] = type === "data" ? [stream, half.stream] : [half.stream, stream];
    // The reply to the stream is sent first.
    loop.post("request", () => forward({ port, data, error }, this.#request));
    return true;
  }

  #drop(id: string): void {
    this.#halves.get(id)?.stream.destroy();
    this.#halves.delete(id);
  }
}

/** Old clients send no id. They open the error stream just before the data stream. */
function requestIdOf({ id, headers }: SpdyStream, type: "data" | "error"): string {
  return headers.get("requestid") ?? `stream ${type === "error" ? id : id - 2}`;
}
