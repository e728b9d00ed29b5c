import { SimulatedHandler } from "../../src/agent/simulated/simulated-handler.ts";
import { TimerQueue } from "../../src/agent/timer-queue.ts";
import { virtualTime } from "./open-store-fixture.ts";
import { runtimeHandlerSuite } from "./runtime-handler-suite.ts";

runtimeHandlerSuite({
  name: "simulated",
  open: async () => {
    const time = virtualTime({ seed: 1, name: "test" });
    const { loop } = time;
    const timers = new TimerQueue(loop);
    return {
      time,
      waitMs: 100,
      create: (listener) => new SimulatedHandler({ loop, timers, listener }),
      image: "registry.example/web:1",
      folder: undefined,
      [Symbol.asyncDispose]: () => time.stop(),
    };
  },
});
