/** Bounds on the resources that unverified clients can use. `ListenOptions.limits` overrides each of them. */

const MIB = 1024 * 1024;

export interface TransportLimits {
  /** One connection more evicts the oldest connection whose client is not verified. */
  readonly maxConnections: number;
  /** Connections of one IPv4 address or IPv6 /64 network, so that one machine cannot take all connections. */
  readonly maxConnectionsPerAddress: number;
  /** Bytes of the names and values of one request's headers. */
  readonly maxHeaderBytes: number;
  /** Bytes of all bodies in flight, over all connections. */
  readonly maxReceivingBytes: number;
  /** Time from the connection to the end of its TLS handshake. */
  readonly handshakeTimeoutMs: number;
  /** Time from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** Time from the first read of a body to its end. */
  readonly bodyTimeoutMs: number;
  /** Time for which a connection without requests stays open. */
  readonly idleTimeoutMs: number;
  /** Time for which a client may read nothing of a waiting response. */
  readonly stallTimeoutMs: number;
  /** Pipelined requests of an HTTP/1.1 client; with more its connection is cut. */
  readonly maxRequestsAhead: number;
  /** Concurrent requests on one HTTP/2 session. */
  readonly maxStreamsPerSession: number;
  /** Unanswered requests that an HTTP/2 client may cancel: as a burst, and per second after that. */
  readonly maxResetBurst: number;
  readonly maxResetsPerSecond: number;
}

export const DEFAULT_LIMITS: TransportLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 4000,
  // A bearer token of 16 KiB plus usual headers.
  maxHeaderBytes: 32 * 1024,
  maxReceivingBytes: 64 * MIB,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  // Longer than the idle timeout of Go clients (90 s): the client closes first, and never writes to a closed
  // connection.
  idleTimeoutMs: 120_000,
  stallTimeoutMs: 60_000,
  // Kubernetes clients do not pipeline. Node keeps reading pipelined requests, so they would take memory without bound.
  maxRequestsAhead: 100,
  // One Go client watches a hundred resources on one session, beside its ordinary requests.
  maxStreamsPerSession: 500,
  // A client that exits cancels a few hundred watches at once; those were answered and do not count here.
  maxResetBurst: 200,
  maxResetsPerSecond: 20,
};
