/**
 * The only way in which the server calls others: webhooks, and servers of aggregated APIs. Whom it calls is said by users, so what is said is
 * bounded and checked here: the address that was checked is the one that is dialled, redirects are answers and are never followed, answers have
 * a largest size, and everything ends in time.
 */

/** As webhook configurations and APIServices have it: exactly one of the two. */
export type EgressTarget =
  | { readonly type: "url"; readonly url: string }
  | {
      readonly type: "service";
      readonly namespace: string;
      readonly name: string;
      /** Of the Service. */
      readonly port: number;
      readonly path: string;
    };

/** Whom to trust: the holder of a certificate signed by `ca` for the name of the target. */
export interface EgressTrust {
  /** PEM; without one, the authorities that this machine trusts. */
  readonly ca?: string | undefined;
  /** Of APIServices only: whoever answers is believed. */
  readonly isVerificationOff?: boolean;
}

/** A certificate with its key, in PEM, by which the other side knows who calls. */
export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

export interface EgressRequest {
  readonly target: EgressTarget;
  readonly trust: EgressTrust;
  /** What this server shows of itself; nothing unless given. */
  readonly pair?: ClientPair | undefined;
  readonly method: string;
  /** Appended to the target's own, with its query; begins with a slash or a question mark, or is empty. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number;
  /** Longer answers are refused. */
  readonly replyBytesMax: number;
  readonly signal: AbortSignal;
  /**
   * Whether it may be sent once more when a connection that was kept from an earlier call turns out to be closed; unless given, what only
   * reads may. What was not sent at all is always sent again.
   */
  readonly isRepeatable?: boolean;
}

export interface EgressReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Where to connect to, once a target was resolved. */
export interface DialAddress {
  readonly host: string;
  readonly port: number;
  /** Whose certificate it must be: `NAME.NAMESPACE.svc`, or the URL's host. */
  readonly serverName: string;
  /** Whom the request is for, as the URL has it: `NAME.NAMESPACE.svc:443`. */
  readonly authority: string;
  /** Of the URL, or of the service reference. */
  readonly basePath: string;
  readonly isTls: boolean;
}

export interface Egress {
  /** Services are resolved to one of their ready endpoints, by what is in the store. Throws EgressError. */
  resolve(target: EgressTarget): DialAddress;
  /** Rejects with EgressError, never with anything else. */
  call(request: EgressRequest): Promise<EgressReply>;
}

/** One line for people, without secrets: it ends up in answers to clients. */
export class EgressError extends Error {
  override readonly name = "EgressError";
}
