/** The bench reads the server's log and prints tables. */
import { setImmediate as immediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTextLog } from "../src/base/log/log-text.ts";
import { createRealLoop } from "../src/base/loop/real/real-loop.ts";
import { longStepsIn } from "./bench/server-process.ts";
import { figureText, surveyText } from "./bench/survey.ts";

test("the long steps of an actor are found in the log that the loop writes", async () => {
  let text = "";
  const log = createTextLog({ isColoured: false, write: (line) => void (text += line) });
  const loop = createRealLoop({ name: "cluster", log });
  const busy = (ms: number): void => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  const store = loop.child("store");
  for (const ms of [60, 80]) store.post("loop", () => busy(ms));
  await new Promise<void>((resolve) => loop.post("loop", resolve));
  await immediate();
  const [found, ...others] = longStepsIn(`${text}12:00:00.000 info  another line\n`);

  expect(others).toEqual([]);
  expect(found).toMatchObject({ actor: "cluster/store", count: 2 });
  expect(found?.longestMs).toBeGreaterThanOrEqual(80);
});

test("a figure of a survey is shown in a line of its own", () => {
  expect(figureText({ what: "GET", at: "0", cpuUs: 26.84, p50Ms: 1, p99Ms: 2 })).toBe(
    "GET, 0: 26.8 (CPU of the server, µs each), 1.00 / 2.00 / – (p50 / p99 / max, ms)",
  );
});

test("a survey shows a column for each size, and a dash where nothing was measured", () => {
  const text = surveyText([
    { what: "GET", at: "0", cpuUs: 26.84, p50Ms: 1, p99Ms: 2 },
    { what: "GET", at: "10,000", cpuUs: 1234.5 },
    { what: "memory", at: "10,000", value: "249 MB" },
  ]);

  expect(text.split("\n\n")).toEqual([
    "| CPU of the server, µs each | 0 | 10,000 |\n| --- | --- | --- |\n| GET | 26.8 | 1,235 |",
    "| p50 / p99 / max, ms | 0 | 10,000 |\n| --- | --- | --- |\n| GET | 1.00 / 2.00 / – | – |",
    "| other figures | 0 | 10,000 |\n| --- | --- | --- |\n| memory | – | 249 MB |",
  ]);
});
