/** Test servers with one store and one virtual clock. */
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { ServerFixture } from "./fixture.ts";
import type { FixtureOptions } from "./fixture.ts";

type ServerOptions = Omit<FixtureOptions, "store" | "loop">;

export interface RunningServer {
  readonly server: ServerFixture;
  /** Stops the server like SIGTERM does. */
  end(): Promise<void>;
}

export class SharedStoreFixture {
  readonly loop = new VirtualLoop({ seed: 1 });
  readonly store = openMemoryStore({ loop: this.loop.child("store") });

  /** Runs the virtual clock until the promise settles. */
  done<T>(promise: Promise<T>): Promise<T> {
    return this.loop.finish(promise);
  }

  start(options: ServerOptions): Promise<ServerFixture> {
    const loop = this.loop.child(options.hostname ?? "server");
    return this.done(ServerFixture.start({ ...options, store: this.store, loop }));
  }

  async startRunning(options: ServerOptions): Promise<RunningServer> {
    const server = await this.start(options);
    const ending = new AbortController();
    const running = server.upkeep.run(ending.signal);
    const end = (): Promise<void> => {
      ending.abort();
      return this.done(running);
    };
    return { server, end };
  }
}
