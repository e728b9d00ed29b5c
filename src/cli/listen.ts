import { CLUSTER_NAME } from "../cluster/kubeconfig/kubeconfig.ts";
import type { ListenAddress } from "../cluster/options.ts";
import { UsageError } from "./command.ts";

const DEFAULT_PORT = 6443;
/** Ports of named clusters lie in the thousand above. */
const NAMED_PORTS = 1000;

/** Default address of a cluster. The port of a named one follows from its name, so several run side by side. */
export function defaultListen(name: string): ListenAddress {
  const offset = name === CLUSTER_NAME ? 0 : 1 + (hashOf(name) % NAMED_PORTS);
  return { host: "127.0.0.1", port: DEFAULT_PORT + offset };
}

function hashOf(text: string): number {
  return Buffer.from(text).reduce((hash, byte) => (Math.imul(hash, 31) + byte) >>> 0, 0);
}

/** Reads `HOST:PORT`, with an IPv6 address in brackets: `[::1]:6443`. */
export function parseListen(text: string): ListenAddress {
  const {
    bracketed,
    plain,
    port = "",
  } = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new UsageError(`--listen must be HOST:PORT with a port from 0 to 65535, found "${text}"`);
  }
  return { host, port: Number(port) };
}
