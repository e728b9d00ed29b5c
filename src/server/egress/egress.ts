/**
 * The only way in which the server calls other servers: webhooks and aggregated APIs. Users choose the targets, so
 * calls are checked and bounded here. The checked address itself is dialled. Redirects are not followed, responses
 * have a maximum size, and each call has a deadline.
 */
import type { Duplex } from "node:stream";

/** The target in webhook configurations and APIServices: exactly one of the two. */
export type EgressTarget =
  | { readonly type: "url"; readonly url: string }
  | {
      readonly type: "service";
      readonly namespace: string;
      readonly name: string;
      /** Port of the Service. */
      readonly port: number;
      readonly path: string;
    };

/** The server must hold a certificate for the target's name, signed by `ca`. */
export interface EgressTrust {
  /** PEM. Default: the authorities that this machine trusts. */
  readonly ca?: string | undefined;
  /** Accepts any certificate. Used for APIServices only. */
  readonly isVerificationOff?: boolean;
}

/** Client certificate with its key, in PEM. */
export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

export interface EgressRequest {
  readonly target: EgressTarget;
  readonly trust: EgressTrust;
  /** Client certificate of this server. Default: none. */
  readonly pair?: ClientPair | undefined;
  readonly method: string;
  /** Appended to the target's path, with its query. It is empty or begins with a slash or a question mark. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number;
  /** A longer response fails the call. */
  readonly replyBytesMax: number;
  readonly signal: AbortSignal;
  /**
   * Whether to repeat the call once when a kept-alive connection turns out to be closed. Default: only for methods
   * that read. A request of which no byte was sent is always repeated.
   */
  readonly isRepeatable?: boolean;
}

export interface EgressReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Place to connect to, once a target is resolved. */
export interface DialAddress {
  readonly host: string;
  readonly port: number;
  /** Name that the certificate must contain: `NAME.NAMESPACE.svc`, or the URL's host. */
  readonly serverName: string;
  /** Value of the Host header, for example `NAME.NAMESPACE.svc:443`. */
  readonly authority: string;
  /** Path of the URL, or of the service reference. */
  readonly basePath: string;
  readonly isTls: boolean;
  /** Opens a connection in memory, to a server in this process. Nothing is resolved or dialled then. */
  readonly connect?: () => Duplex;
}

export interface Egress {
  /** Resolves a Service to one of its ready endpoints in the store. Throws EgressError. */
  resolve(target: EgressTarget): DialAddress;
  /** Rejects with EgressError only. */
  call(request: EgressRequest): Promise<EgressReply>;
}

/** One line for people, without secrets: clients see it in responses. */
export class EgressError extends Error {
  override readonly name = "EgressError";
}
