/** What strangers may cost before anybody knows who they are. Every number can be changed by whoever starts a listener. */

const MIB = 1024 * 1024;

export interface TransportLimits {
  /** A further one ends the oldest connection whose client is not verified. */
  readonly maxConnections: number;
  /** Of one IPv4 address or /64 network of IPv6, so that one machine cannot take all connections. */
  readonly maxConnectionsPerAddress: number;
  /** Names and values of one request's headers. */
  readonly maxHeaderBytes: number;
  /** Of all bodies being received at one time, over all connections. */
  readonly maxReceivingBytes: number;
  /** From a connection to the end of its TLS handshake. */
  readonly handshakeTimeoutMs: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first look at a body to its end. */
  readonly bodyTimeoutMs: number;
  /** How long a connection without requests is kept. */
  readonly idleTimeoutMs: number;
  /** How long a client may take nothing of an answer that waits for it. */
  readonly stallTimeoutMs: number;
  /** Requests that an HTTP/1.1 client may send before earlier ones are answered; with more its connection is cut. */
  readonly maxRequestsAhead: number;
  /** Requests at one time on one HTTP/2 session. */
  readonly maxStreamsPerSession: number;
  /** Requests that an HTTP/2 client may take back before they were answered: at once, and for ever after. */
  readonly maxResetBurst: number;
  readonly maxResetsPerSecond: number;
}

export const DEFAULT_LIMITS: TransportLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 4000,
  // A bearer token of 16 KiB and an ordinary set of headers beside it.
  maxHeaderBytes: 32 * 1024,
  maxReceivingBytes: 64 * MIB,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  // Longer than the 90 s for which Go clients keep a connection, so that they close it and not we while they write.
  idleTimeoutMs: 120_000,
  stallTimeoutMs: 60_000,
  // Clients of Kubernetes send none. Node reads on however many wait, so that they would take memory without bound.
  maxRequestsAhead: 100,
  // One Go client watches a hundred resources on one session and makes its ordinary requests beside.
  maxStreamsPerSession: 500,
  // A client that ends takes back a few hundred watches at once, but those were answered and do not count here.
  maxResetBurst: 200,
  maxResetsPerSecond: 20,
};
