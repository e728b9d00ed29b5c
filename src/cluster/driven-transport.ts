/** A way into a virtual world for code outside of it: each call lets the world run until it is answered. */
import type { Transport, TransportStream } from "../client/transport.ts";
import type { VirtualDriver } from "./virtual-driver.ts";

export function drivenTransport(inner: Transport, driver: VirtualDriver): Transport {
  return {
    send: (request) => driver.drive(inner.send(request)),
    watch: async (request) => driven(await driver.drive(inner.watch(request)), driver),
    read: async (request) => driven(await driver.drive(inner.read(request)), driver),
    close: () => inner.close(),
  };
}

/** Nobody knows whether a next item will come: the world is let run until it does, or until nothing is left to do. */
function driven<T>(stream: TransportStream<T>, driver: VirtualDriver): TransportStream<T> {
  return {
    ...stream,
    items: {
      [Symbol.asyncIterator]: () => {
        const iterator = stream.items[Symbol.asyncIterator]();
        return {
          next: () => driver.nudge(iterator.next()),
          return: (value?: unknown) =>
            iterator.return?.(value) ?? Promise.resolve({ done: true, value: undefined }),
        };
      },
    },
  };
}
