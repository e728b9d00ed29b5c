/** One address of an etcd cluster: a channel, and the calls on it. Knows nothing of retries and users. */
import { createSecureContext } from "node:tls";
import { Client, connectivityState, credentials, Metadata, type ChannelCredentials } from "@grpc/grpc-js";
import { checkServerName } from "../../../base/keys/server-identity.ts";
import { StoreError } from "../../store-error.ts";
import { WATCH, type Method } from "./protocol.ts";
import { WatchStream } from "./watch-stream.ts";

/** In PEM. */
export interface EtcdTls {
  /** Authorities that may sign the server's certificate; the system's when left out. */
  readonly ca?: Uint8Array;
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
}

const CHANNEL_OPTIONS = {
  // etcd itself limits what it takes (1.5 MiB) and sends whatever was asked for.
  "grpc.max_send_message_length": -1,
  "grpc.max_receive_message_length": -1,
  // A dead peer is noticed after 15 s even if nothing is asked. etcd disconnects clients that ping every 5 s or more often.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // A store is never spoken to through the environment's web proxy.
  "grpc.enable_http_proxy": 0,
  // Repeating a request is the connection's decision: a write must not happen twice.
  "grpc.enable_retries": 0,
  // So that closing this store's channel closes its sockets.
  "grpc.use_local_subchannel_pool": 1,
};

export interface CallOptions {
  /** By Loop.now. */
  readonly deadline: number;
  readonly token: string | undefined;
}

export class Endpoint {
  readonly address: string;
  readonly #client: Client;
  readonly #watches = new Set<WatchStream>();

  constructor(url: string, tls: EtcdTls | undefined) {
    this.address = url;
    const { target, isSecure } = parseEndpoint(url);
    this.#client = new Client(target, isSecure ? secure(tls) : credentials.createInsecure(), CHANNEL_OPTIONS);
  }

  /** Whether the channel can be used, after trying to open it; false at once when it was just found to be closed. */
  async isReady(deadline: number): Promise<boolean> {
    const channel = this.#client.getChannel();
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return true;
      if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) return false;
      const hasChanged = await new Promise<boolean>((resolve) => {
        channel.watchConnectivityState(state, deadline, (error) => {
          resolve(error === undefined);
        });
      });
      if (!hasChanged) return false;
    }
  }

  /** Fails with grpc's ServiceError. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { deadline, token }: CallOptions,
  ): Promise<Response> {
    return new Promise<Response>((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        metadata(token),
        { deadline },
        (error, response) => {
          if (error !== null) reject(error);
          else if (response === undefined) reject(new Error(`${method.path} gave neither answer nor error`));
          else resolve(response);
        },
      );
    });
  }

  openWatch(token: string | undefined): WatchStream {
    const call = this.#client.makeBidiStreamRequest(
      WATCH.path,
      WATCH.encode,
      WATCH.decode,
      metadata(token, { requireLeader: true }),
    );
    const stream = new WatchStream(call, () => this.#watches.delete(stream));
    this.#watches.add(stream);
    return stream;
  }

  endWatches(reason: Error): void {
    for (const stream of this.#watches) stream.close(reason);
  }

  close(): void {
    this.#client.close();
  }
}

function metadata(
  token: string | undefined,
  { requireLeader = false }: { requireLeader?: boolean } = {},
): Metadata {
  const result = new Metadata();
  if (token !== undefined) result.set("token", token);
  // A member cut off from its cluster then ends the stream instead of keeping it silent.
  if (requireLeader) result.set("hasleader", "true");
  return result;
}

function parseEndpoint(url: string): { target: string; isSecure: boolean } {
  const match = /^(?:(https?):\/\/)?((?:\[[0-9a-fA-F:.]+\]|[^/:[\]]+):\d+)\/?$/.exec(url);
  if (match?.[2] === undefined) {
    throw new StoreError("Unavailable", `expected an etcd endpoint like https://HOST:PORT, found ${url}`);
  }
  return { target: match[2], isSecure: match[1] === "https" };
}

function secure({ ca, cert, key }: EtcdTls = {}): ChannelCredentials {
  const bytes = (pem: Uint8Array | undefined): Buffer | undefined => pem && Buffer.from(pem);
  // As etcd's own clients: every certificate of the bundle is an anchor, and common names do not count.
  const context = createSecureContext({
    ca: bytes(ca),
    cert: bytes(cert),
    key: bytes(key),
    allowPartialTrustChain: true,
  });
  return credentials.createFromSecureContext(context, { checkServerIdentity: checkServerName });
}
