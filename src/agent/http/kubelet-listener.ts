/** Serves the HTTP API of one node on a port of its own: kube-apiserver finds a node by its address and port only. */
import type { AddressInfo, Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ConnectionPlace, KubeletServer } from "./kubelet-server.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Upper bound of the connections of a port. Each stream of a client has one. */
const CONNECTIONS_MAX = 1000;
/** Detects a client that vanished without closing, also during a followed log. */
const TCP_KEEP_ALIVE_MS = 30_000;

export interface KubeletListenerOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly server: KubeletServer;
  readonly place: ConnectionPlace;
  readonly host: string;
  /** 0 lets the operating system pick a free port. */
  readonly port: number;
  /** Serving certificate with its key, and the CA of client certificates (empty: none is accepted); PEM. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string };
}

export interface KubeletListener {
  readonly port: number;
  /** Takes no further connections. `KubeletServer.close` cuts the open ones. */
  close(): void;
}

export async function listenForNode(options: KubeletListenerOptions): Promise<KubeletListener> {
  const { loop, log, server, place, host } = options;
  const { cert, key, clientCa } = options.tls;
  const listener = createServer({
    ...{ cert, key, minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] },
    // An empty list of authorities would mean those that the machine trusts for servers.
    ...(clientCa === "" ? { requestCert: false } : { requestCert: true, ca: clientCa }),
    ...{ rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
  });
  listener.maxConnections = CONNECTIONS_MAX;
  listener.on("tlsClientError", (_error, socket: Socket) => socket.destroy());
  listener.on("secureConnection", (socket: TLSSocket) => {
    // TLS 1.2 clients could renegotiate without end; TLS 1.3 has no renegotiation.
    socket.disableRenegotiation();
    server.accept(socket, place);
  });
  const listening = new Promise<AddressInfo>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen({ host, port: options.port }, () => {
      listener.off("error", reject);
      const address = listener.address();
      assert(typeof address === "object" && address !== null, "a TCP server has an address and a port");
      resolve(address);
    });
  });
  const { port } = await loop.outside("listen", listening);
  listener.on("error", (error) => log.error("the node's API could not accept a connection", { error }));
  return { port, close: () => listener.close() };
}
