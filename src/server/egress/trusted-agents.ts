/** Connections, kept for a while, apart for each set of authorities that is trusted and each certificate that is shown. */
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

/** One costs some 100 KiB; more different ones are made again when they are needed again. */
const AGENTS_MAX = 128;
/** In all, and for one place. */
const IDLE_SOCKETS_MAX = 256;
const IDLE_SOCKETS_PER_PLACE = 64;
/** Servers that tell how long they keep a connection are believed; of others it is known that most keep it for longer. */
const IDLE_MS = 30_000;
/** Finds out in the end that nobody is there any more. */
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
  /** The one that was used last at the end. */
  readonly #agents = new Map<string, TrustedAgent>();
  #plain: HttpAgent | undefined;

  /** Throws when the bundle or the pair cannot be read. */
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

  /** Calls that are under way fail. */
  close(): void {
    for (const { agent } of this.#agents.values()) agent.destroy();
    this.#agents.clear();
    this.#plain?.destroy();
  }

  /** What goes on over it goes on; its idle connections close by themselves. */
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
    // Every certificate of the bundle is an anchor, as for Go: also a server's own, and one of an authority in between.
    allowPartialTrustChain: true,
    ...(ca !== undefined && !isVerificationOff && { ca }),
    ...pair,
  });
  return { secureContext, agent: new HttpsAgent({ ...AGENT_OPTIONS, maxCachedSessions: IDLE_SOCKETS_MAX }) };
}

/** Nobody wants keys and whole bundles as keys of a map. */
function nameOf({ ca, isVerificationOff = false }: EgressTrust, pair: ClientPair | undefined): string {
  const hash = createHash("sha256");
  for (const part of [ca ?? "", isVerificationOff ? "off" : "on", pair?.cert ?? "", pair?.key ?? ""])
    hash.update(`${part.length}:${part}`);
  return hash.digest("base64");
}
