import type { ListenAddress } from "../cluster/options.ts";
import { UsageError } from "./command.ts";

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
