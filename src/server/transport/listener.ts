/**
 * Serves HTTPS on one port, with HTTP/1.1 or HTTP/2 by the client's choice. Client certificates are requested, not
 * required. A client without one is anonymous; a client with an untrusted one is a stranger. The server decides about
 * their permissions.
 */
import type { AddressInfo, Socket } from "node:net";
import {
  createServer,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from "node:tls";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { HttpHandler } from "../request/http.ts";
import { ClientConnection } from "./client-connection.ts";
import { Connections } from "./connections.ts";
import type { ExchangeParts } from "./http-exchange.ts";
import { createHttp1 } from "./http1.ts";
import { acceptHttp2 } from "./http2.ts";
import { KnownCredentials } from "./known-credentials.ts";
import { DEFAULT_LIMITS, type TransportLimits } from "./limits.ts";
import { peerReader } from "./peer.ts";
import { BodyBudget } from "./receive-body.ts";
import { RequestQueue, type UrgencyRule } from "./request-queue.ts";

/** Detects a peer that vanished without closing after this time and a few probes, also on an idle watch. */
const TCP_KEEP_ALIVE_MS = 30_000;

export interface ListenOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly handler: HttpHandler;
  /** Requests that go before all others. */
  readonly isUrgent: UrgencyRule;
  readonly tls: ListenerTls;
  readonly host: string;
  /** 0 lets the operating system pick a free port. */
  readonly port: number;
  readonly limits?: Partial<TransportLimits>;
  /** Called when a TLS handshake fails. */
  readonly onHandshakeError?: () => void;
}

/** All values are PEM. */
export interface ListenerTls {
  readonly key: string;
  readonly cert: string;
  /** Certificate of the CA that signs client certificates. */
  readonly ca: string;
  /** Certificate of the CA that signs front-proxy certificates; without it no client is a front proxy. */
  readonly frontProxyCa?: string;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Applies to new connections. Throws when the certificates are unusable; then nothing changes. */
  renew(tls: ListenerTls): void;
  /**
   * Takes no further connection or request and aborts the signals of requests in flight. Resolves when their responses
   * are written and all connections closed. After `graceMs` the remaining ones are cut.
   */
  close(options: { readonly graceMs: number }): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const { loop, log, handler } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const budget = new BodyBudget(limits.maxReceivingBytes);
  let readPeer = peerReader(options.tls);
  const credentials = new KnownCredentials();
  let connectionCount = 0;
  const clientOf = (socket: TLSSocket): ClientConnection => {
    const { remoteAddress } = socket;
    return new ClientConnection({
      loop,
      credentials,
      remoteAddress,
      peer: readPeer(socket),
      number: ++connectionCount,
    });
  };
  const queue = new RequestQueue({ loop, isUrgent: options.isUrgent });
  const parts: ExchangeParts = { loop, log, handler, limits, budget, queue };
  const connections = new Connections(limits, log);
  const http1 = createHttp1(parts);

  const server = createServer(tlsOptions(options.tls, limits));
  server.on("connection", (socket: Socket) => connections.admit(socket));
  server.on("tlsClientError", (_error, socket) => {
    options.onHandshakeError?.();
    socket.destroy();
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.destroyed) return;
    // TLS 1.2 clients could renegotiate without end; TLS 1.3 has no renegotiation.
    socket.disableRenegotiation();
    const client = clientOf(socket);
    client.whenTrusted(() => connections.trust(socket));
    const isHttp2 = socket.alpnProtocol === "h2";
    connections.add(isHttp2 ? acceptHttp2(socket, client, parts) : http1.accept(socket, client), socket);
  });
  const { address, port } = await loop.outside("listen", bind(server, options));
  server.on("error", (error) => log.error("a listener could not accept a connection", { error }));
  return {
    address,
    port,
    renew(tls) {
      const next = peerReader(tls);
      server.setSecureContext(secureContext(tls));
      readPeer = next;
    },
    async close({ graceMs }) {
      server.close();
      await connections.end(new Error("the server is shutting down"), { loop, graceMs });
      http1.close();
    },
  };
}

function secureContext({ key, cert, ca, frontProxyCa }: ListenerTls): SecureContextOptions {
  return { key, cert, ca: frontProxyCa === undefined ? ca : [ca, frontProxyCa], minVersion: "TLSv1.2" };
}

function tlsOptions(tls: ListenerTls, limits: TransportLimits): TlsOptions {
  return {
    ...secureContext(tls),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limits.handshakeTimeoutMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
  };
}

function bind(server: Server, { host, port }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const place = server.address();
      assert(typeof place === "object" && place !== null, "a TCP server has an address and a port");
      resolve(place);
    });
  });
}
