/** Connects to a target. Its name is resolved once, each address is checked, and a checked address is dialled. */
import { lookup } from "node:dns/promises";
import type { RequestOptions } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { checkServerName } from "../../base/keys/server-identity.ts";
import { isDialable } from "./address-check.ts";
import type { AddressOrigin } from "./address-check.ts";
import { joinedPath } from "./dial-address.ts";
import { EgressError } from "./egress.ts";
import type { ClientPair, DialAddress, EgressTrust } from "./egress.ts";
import { codeOf, connectionErrorText, lookupErrorText } from "./error-text.ts";
import { OutgoingRequestError, sendRequest } from "./outgoing-request.ts";
import type { ReceivedResponse, OutgoingBody } from "./outgoing-request.ts";
import type { TrustedAgents } from "./trusted-agents.ts";

export interface DialRequest {
  readonly address: DialAddress;
  readonly origin: AddressOrigin;
  readonly trust: EgressTrust;
  /** Client certificate of this server. */
  readonly pair?: ClientPair | undefined;
  readonly method: string;
  /** As in EgressRequest. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: OutgoingBody;
  readonly mayUpgrade: boolean;
  /** As in EgressRequest; a streamed body is never sent again. */
  readonly isRepeatable: boolean;
  /** Aborts the call, also while the response is read. */
  readonly signal: AbortSignal;
  /** Longest silence on the connection, in milliseconds; unlimited if absent. */
  readonly silenceMs?: number;
  /** Time to connect, with the TLS handshake, in milliseconds; unlimited if absent. */
  readonly connectMs?: number | undefined;
}

/** Number of addresses of one name that are tried. */
const ADDRESSES_MAX = 4;
/** Errors before any byte was sent: another address may work. */
const UNREACHED: ReadonlySet<string> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

/**
 * Tries the addresses in order until one accepts the connection. Rejects with EgressError; on abort with any error.
 */
export async function dial(request: DialRequest, agents: TrustedAgents): Promise<ReceivedResponse> {
  const { address, signal } = request;
  if (address.connect !== undefined) return sendInMemory(request, address.connect);
  const addresses = await dialableAddresses(request);
  for (let at = 0; ; at++) {
    const ip = addresses[at] ?? "";
    try {
      return await sendTo(request, ip, agents);
    } catch (error) {
      const cause = error instanceof OutgoingRequestError ? error.cause : error;
      if (UNREACHED.has(codeOf(cause)) && at + 1 < addresses.length && !signal.aborted) continue;
      const place = isIP(ip) === 6 ? `[${ip}]:${address.port}` : `${ip}:${address.port}`;
      throw new EgressError(connectionErrorText(cause, place), { cause });
    }
  }
}

async function sendInMemory(
  { address, method, path, headers, body, signal, mayUpgrade }: DialRequest,
  connect: () => Duplex,
): Promise<ReceivedResponse> {
  const options = {
    method,
    path: joinedPath(address.basePath, path),
    headers: { host: address.authority, ...headers } as RequestOptions["headers"] & object,
    setHost: false,
    createConnection: connect,
  };
  try {
    return await sendRequest({ isTls: false, options, body, signal, mayUpgrade });
  } catch (error) {
    const cause = error instanceof OutgoingRequestError ? error.cause : error;
    throw new EgressError(connectionErrorText(cause, address.authority), { cause });
  }
}

async function dialableAddresses({ address, origin }: DialRequest): Promise<readonly string[]> {
  const found = isIP(address.host) === 0 ? await addressesOf(address.host) : [address.host];
  const dialable = found.filter((ip) => isDialable(ip, origin)).slice(0, ADDRESSES_MAX);
  if (dialable.length === 0) throw new EgressError("address not allowed");
  return dialable;
}

export async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new EgressError(lookupErrorText(error, host), { cause: error });
  }
}

/** Repeats the request on a new connection when a kept-alive connection turns out to be closed. */
async function sendTo(request: DialRequest, ip: string, agents: TrustedAgents): Promise<ReceivedResponse> {
  const { address, body, signal, mayUpgrade, connectMs } = request;
  const start = { isTls: address.isTls, body, signal, mayUpgrade, connectMs };
  const isWhole = body === undefined || body instanceof Uint8Array;
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendRequest({ ...start, options: optionsFor(request, ip, agents) });
    } catch (error) {
      const mayRepeat = error instanceof OutgoingRequestError && error.isReused && isWhole && !signal.aborted;
      // An agent may hold several closed connections; each attempt uses one up.
      if (!mayRepeat || attempt > ATTEMPTS_MAX || !(error.isUnsent || request.isRepeatable)) throw error;
    }
  }
}

const ATTEMPTS_MAX = 2;

function optionsFor(request: DialRequest, ip: string, agents: TrustedAgents): RequestOptions {
  const { address, trust, pair, method, silenceMs } = request;
  const { serverName, basePath, port } = address;
  const options: RequestOptions = {
    host: ip,
    port,
    method,
    path: joinedPath(basePath, request.path),
    headers: { host: address.authority, ...request.headers } as RequestOptions["headers"] & object,
    setHost: false,
    ...(silenceMs !== undefined && { timeout: silenceMs }),
  };
  if (!address.isTls) return { ...options, agent: agents.plain };
  return {
    ...options,
    ...agents.secure(trust, pair),
    // TLS has no SNI for an IP address.
    servername: isIP(serverName) === 0 ? serverName : "",
    rejectUnauthorized: trust.isVerificationOff !== true,
    checkServerIdentity: (_host, certificate) => checkServerName(serverName, certificate),
  };
}
