import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { LogView } from "../runtime-handler.ts";
import { SimulatedLog } from "./simulated-log.ts";

const QUERY: LogView = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: "All",
};
const LINE = "x".repeat(100_000);
/** A line of 100 kB each second. */
const SCRIPT = { lines: [{ afterMs: 0, text: LINE }], everyMs: 1000 };

async function openAfter(ms: number, query: Partial<LogView>): Promise<readonly [SimulatedLog, VirtualLoop]> {
  const loop = new VirtualLoop({ seed: 1 });
  const run = { script: SCRIPT, startedAt: loop.now(), endedAt: undefined };
  await loop.advance(ms);
  return [new SimulatedLog(run, { ...QUERY, ...query }, loop), loop];
}

function lineCount(log: SimulatedLog): number {
  let bytes = 0;
  for (let piece = log.read() as Buffer | null; piece !== null; piece = log.read() as Buffer | null)
    bytes += piece.byteLength;
  return bytes / (LINE.length + 1);
}

describe("a simulated log", () => {
  test.each([false, true])(
    "holds little for a slow reader, however long it is: follow %s",
    async (follow) => {
      const [log, loop] = await openAfter(3_600_000, { follow });
      log.read(0);
      await loop.advance(60_000);

      expect(log.readableLength).toBeLessThan(3 * LINE.length);
      expect(lineCount(log)).toBe(follow ? 3661 : 3601);
    },
  );

  test("grows while it is followed, and ends with its container", async () => {
    const [log, loop] = await openAfter(5000, { follow: true, tailLines: 2 });
    let isEnded = false;
    log.once("end", () => (isEnded = true));
    const first = lineCount(log);
    await loop.advance(3000);
    const more = lineCount(log);
    log.end();
    lineCount(log);
    await loop.advance(1);

    expect([first, more, isEnded]).toEqual([2, 3, true]);
  });

  test("ends at its limit of bytes", async () => {
    const [log] = await openAfter(5000, { follow: true, limitBytes: 100_001 });

    expect(lineCount(log)).toBe(1);
    expect(log.readableEnded || log.readableLength === 0).toBe(true);
  });

  test("has nothing on stderr", async () => {
    const [log] = await openAfter(5000, { stream: "Stderr" });

    expect(lineCount(log)).toBe(0);
  });
});
