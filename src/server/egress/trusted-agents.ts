/** Keeps connections alive, separate for each set of trusted authorities and each client certificate. */
import { createHash } from "node:crypto";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createSecureContext } from "node:tls";
import type { SecureContext } from "node:tls";
import type { ClientPair, EgressTrust } from "./egress.ts";

export interface TrustedAgent {
  readonly agent: HttpsAgent;
  readonly secureContext: SecureContext;
}

/** An agent takes some 100 KiB. The least recently used ones are evicted and created again on demand. */
const AGENTS_MAX = 128;
/** Bounds of the idle sockets: in total and per host. */
const IDLE_SOCKETS_MAX = 256;
const IDLE_SOCKETS_PER_PLACE = 64;
/** A server's own keep-alive hint takes precedence; most servers without one keep connections longer than this. */
const IDLE_MS = 30_000;
/** TCP keep-alive detects connections whose other end is gone. */
const PROBE_AFTER_MS = 15_000;

const AGENT_OPTIONS = {
  keepAlive: true,
  keepAliveMsecs: PROBE_AFTER_MS,
  timeout: IDLE_MS,
  maxFreeSockets: IDLE_SOCKETS_PER_PLACE,
  maxTotalSockets: Infinity,
  scheduling: "lifo",
} as const;

export class TrustedAgents {
  /** In the order of their last use, the latest last. */
  readonly #agents = new Map<string, TrustedAgent>();
  #plain: HttpAgent | undefined;

  /** Throws if the bundle or the key pair cannot be read. */
  secure(trust: EgressTrust, pair: ClientPair | undefined): TrustedAgent {
    const name = nameOf(trust, pair);
    const known = this.#agents.get(name);
    if (known !== undefined) {
      this.#agents.delete(name);
      this.#agents.set(name, known);
      return known;
    }
    const made = makeAgent(trust, pair);
    this.#agents.set(name, made);
    this.#forgetOldest();
    return made;
  }

  /** For connections without TLS. */
  get plain(): HttpAgent {
    return (this.#plain ??= new HttpAgent(AGENT_OPTIONS));
  }

  /** Calls in flight fail. */
  close(): void {
    for (const { agent } of this.#agents.values()) agent.destroy();
    this.#agents.clear();
    this.#plain?.destroy();
  }

  /** Calls in flight on the evicted agent continue; its idle connections time out. */
  #forgetOldest(): void {
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > AGENTS_MAX && oldest !== undefined) this.#agents.delete(oldest);
  }
}

function makeAgent(
  { ca, isVerificationOff = false }: EgressTrust,
  pair: ClientPair | undefined,
): TrustedAgent {
  const secureContext = createSecureContext({
    minVersion: "TLSv1.2",
    // Every certificate of the bundle is a trust anchor, as in Go: also a server's own, and an intermediate
    // authority's.
    allowPartialTrustChain: true,
    ...(ca !== undefined && !isVerificationOff && { ca }),
    ...pair,
  });
  return { secureContext, agent: new HttpsAgent({ ...AGENT_OPTIONS, maxCachedSessions: IDLE_SOCKETS_MAX }) };
}

/** Hashes the bundle and the key pair, so that they are not map keys themselves. */
function nameOf({ ca, isVerificationOff = false }: EgressTrust, pair: ClientPair | undefined): string {
  const hash = createHash("sha256");
  for (const part of [ca ?? "", isVerificationOff ? "off" : "on", pair?.cert ?? "", pair?.key ?? ""])
    hash.update(`${part.length}:${part}`);
  return hash.digest("base64");
}
