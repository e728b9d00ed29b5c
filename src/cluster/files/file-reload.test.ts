import { beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { keepReloaded } from "./file-reload.ts";

const MINUTE_MS = 60_000;

let loop: VirtualLoop;
const metrics = createMetrics();
let used: string[];
let logged: string[];
/** Content of the file; undefined while it is missing. */
let content: string | undefined;

beforeEach(() => {
  loop = new VirtualLoop({ seed: 1 });
  used = [];
  logged = [];
  content = "first";
});

const log: Log = { ...silentLog, error: (message) => logged.push(message) };

function start(): AbortController {
  const ending = new AbortController();
  const file = {
    path: "/config.yaml",
    text: "first",
    read: () => (content === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(content)),
    use: (text: string) => {
      if (text === "bad") throw new Error("bad");
      used.push(text);
    },
    controller: "authentication_config_controller",
  } as const;
  void keepReloaded(file, { loop, log, metrics }, ending.signal);
  return ending;
}

describe("a reloaded configuration", () => {
  test("is applied once, within a minute of its change", async () => {
    start();
    await loop.advance(MINUTE_MS);
    content = "second";
    await loop.advance(3 * MINUTE_MS);

    expect(used).toEqual(["second"]);
    expect(await metrics.expose()).toContain(
      'apiserver_authentication_config_controller_automatic_reloads_total{status="success"} 1',
    );
  });

  test.each(["bad", undefined])("whose file is %s stays as it was and logs an error", async (wrong) => {
    start();
    content = wrong;
    await loop.advance(MINUTE_MS);
    content = "third";
    await loop.advance(MINUTE_MS);

    expect(logged).toEqual(["configuration is invalid; the previous one stays in use"]);
    expect(used).toEqual(["third"]);
    expect(await metrics.expose()).toContain('automatic_reloads_total{status="failure"}');
  });

  test("is not checked after the server has ended", async () => {
    const ending = start();
    ending.abort();
    content = "second";
    await loop.advance(2 * MINUTE_MS);

    expect(used).toEqual([]);
  });
});
