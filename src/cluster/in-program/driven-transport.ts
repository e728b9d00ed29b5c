/** Transport into a virtual loop for code outside of it: each call runs the loop until the response arrives. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Transport, TransportStream } from "../../client/transport.ts";
import type { VirtualDriver } from "./virtual-driver.ts";

export function drivenTransport(inner: Transport, driver: VirtualDriver): Transport {
  return {
    send: (request) => driver.drive(inner.send(request)),
    watch: async (request) => driven(await driver.drive(inner.watch(request)), driver),
    read: async (request) => driven(await driver.drive(inner.read(request)), driver),
    close: () => inner.close(),
  };
}

/** The next item may never come: the virtual loop runs until it does, or until no work is left. */
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

/** Loop for code outside the virtual loop: a timer, such as a client's back-off, or a step runs the virtual loop until then. */
export function drivenLoop(inner: Loop, driver: VirtualDriver): Loop {
  return {
    actor: inner.actor,
    get lane() {
      return inner.lane;
    },
    now: () => inner.now(),
    elapsed: () => inner.elapsed(),
    post: (lane, step) => {
      const ran = new Promise<void>((resolve, reject) => {
        inner.post(lane, async () => {
          try {
            await step();
            resolve();
          } catch (error) {
            reject(error as Error);
            throw error;
          }
        });
      });
      ran.catch(() => undefined);
      void driver.drive(ran).catch(() => undefined);
    },
    outside: (label, work) => inner.outside(label, work),
    inFlight: (label) => inner.inFlight(label),
    random: (stream) => inner.random(stream),
    child: (name) => drivenLoop(inner.child(name), driver),
    timer: (at, kind, step) => {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const timer = inner.timer(at, kind, () => {
        end();
        return step();
      });
      void driver.drive(ended);
      return {
        cancel: () => {
          timer.cancel();
          end();
        },
      };
    },
  };
}
