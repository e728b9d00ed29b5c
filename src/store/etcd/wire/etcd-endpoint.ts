/** One address of an etcd cluster: a channel and its calls, without retries or users. */
import { createSecureContext } from "node:tls";
import { Client, connectivityState, credentials, Metadata, type ChannelCredentials } from "@grpc/grpc-js";
import { checkServerName } from "../../../base/keys/server-identity.ts";
import { StoreError } from "../../store-error.ts";
import { WATCH, type Method } from "./etcd-protocol.ts";
import { WatchStream } from "./watch-stream.ts";

/** Certificates and keys as PEM. */
export interface EtcdTls {
  /** CAs of the server's certificate; default the system's. */
  readonly ca?: Uint8Array;
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
}

const CHANNEL_OPTIONS = {
  // No limits here: etcd limits requests (1.5 MiB) and sends responses of any requested size.
  "grpc.max_send_message_length": -1,
  "grpc.max_receive_message_length": -1,
  // A dead peer is noticed after 15 s even without requests. etcd disconnects clients that ping every 5 s or more
  // often.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Connections to the store ignore the environment's web proxy.
  "grpc.enable_http_proxy": 0,
  // No retries here: the connection decides on them, since a write must not be executed twice.
  "grpc.enable_retries": 0,
  // Separate sockets per store, so that closing its channel closes them.
  "grpc.use_local_subchannel_pool": 1,
};

export interface CallOptions {
  /** Deadline by Loop.now. */
  readonly deadline: number;
  readonly token: string | undefined;
}

export class EtcdEndpoint {
  readonly address: string;
  readonly #client: Client;
  readonly #watches = new Set<WatchStream>();

  constructor(url: string, tls: EtcdTls | undefined) {
    this.address = url;
    const { target, isSecure } = parseEndpoint(url);
    this.#client = new Client(target, isSecure ? secure(tls) : credentials.createInsecure(), CHANNEL_OPTIONS);
  }

  /** Whether the channel is usable, after trying to connect; false at once when it has just failed. */
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
          else if (response === undefined)
            reject(new Error(`${method.path} returned neither response nor error`));
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
  // Makes a member that is cut off from its cluster end the stream instead of keeping it silent.
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
  // Like etcd's own clients: every certificate of the bundle is an anchor, and common names do not count.
  const context = createSecureContext({
    ca: bytes(ca),
    cert: bytes(cert),
    key: bytes(key),
    allowPartialTrustChain: true,
  });
  return credentials.createFromSecureContext(context, { checkServerIdentity: checkServerName });
}
