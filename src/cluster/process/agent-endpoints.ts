/**
 * Serves the API of an agent's nodes on ports of this machine, a port for each node: an API server finds a node by its
 * address and port only.
 */
import { connect } from "node:net";
import { reviewingGate } from "../../agent/http/caller-gate.ts";
import { CallerReviews } from "../../agent/http/caller-reviews.ts";
import { listenForNode } from "../../agent/http/kubelet-listener.ts";
import { KubeletServer } from "../../agent/http/kubelet-server.ts";
import type { ServeNode } from "../../agent/http/node-serving.ts";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Client } from "../../client/client.ts";
import { loadIssuer, makePrivateKey } from "../../server/pki/issuer.ts";

export interface AgentEndpointsParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Client with the right to create reviews. */
  readonly client: Client;
  /** URL of the API server. */
  readonly server: string;
  /** PEM of the CA of client certificates. */
  readonly clientCa: string;
}

export interface AgentEndpoints {
  readonly serve: ServeNode;
  /** Cuts all connections. */
  close(): void;
}

/** The nodes get the address from which this machine reaches the API server. */
export async function openAgentEndpoints(parts: AgentEndpointsParts): Promise<AgentEndpoints> {
  const { loop, log, metrics, client, clientCa } = parts;
  const host = await loop.outside("socket", findOwnAddress(parts.server));
  const tls = { ...(await selfSigned(host, loop)), clientCa };
  const gate = reviewingGate(new CallerReviews({ client, loop }));
  const server = new KubeletServer({ loop: loop.child("node-api"), log, metrics });
  return {
    serve: async (node) => {
      const place = { node, gate };
      const listener = await listenForNode({ loop, log, server, place, host, port: 0, tls });
      return { port: listener.port, addresses: [host], close: () => listener.close() };
    },
    close: () => server.close(),
  };
}

/** Like the kubelet's, made at each start. API servers verify it only if they are told to. */
async function selfSigned(
  host: string,
  loop: Loop,
): Promise<{ readonly cert: string; readonly key: string }> {
  const issuer = loadIssuer(loop);
  const [authorityKey, key] = [makePrivateKey(), makePrivateKey()];
  const authority = { cert: await issuer.authority("setpoint-agent-ca", authorityKey), key: authorityKey };
  const subject = { commonName: "setpoint-agent", organizations: [] };
  const cert = await issuer.leaf({ subject, key, usage: "server", names: [host], authority });
  return { cert: cert + authority.cert, key };
}

/** Address of this machine on its way to the URL. */
function findOwnAddress(url: string): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port) });
    socket.once("error", reject);
    socket.once("connect", () => {
      const { localAddress } = socket;
      socket.destroy();
      assert(localAddress !== undefined, "a connected socket has an address");
      resolve(localAddress.replace(/^::ffff:/, ""));
    });
  });
}
