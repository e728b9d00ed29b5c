/** Transport that can be cut: after that no request leaves, as if the client's process had been killed. */
import { serviceUnavailable } from "../../api/errors/api-error.ts";
import type { Transport } from "../../client/transport.ts";

export function abortableTransport(inner: Transport, cut: AbortSignal): Transport {
  const unlessCut = <T>(ask: () => Promise<T>): Promise<T> =>
    cut.aborted ? Promise.reject(serviceUnavailable("the connection was cut")) : ask();
  return {
    ...(inner.sharesValues !== undefined && { sharesValues: inner.sharesValues }),
    send: (request) => unlessCut(() => inner.send(request)),
    watch: (request) => unlessCut(() => inner.watch(request)),
    read: (request) => unlessCut(() => inner.read(request)),
    close: () => inner.close(),
  };
}
