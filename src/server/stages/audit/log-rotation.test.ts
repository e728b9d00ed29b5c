import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { backupName, planRotation } from "../../../base/log-files/log-rotation.ts";
import type { RotationLimits } from "../../../base/log-files/log-rotation.ts";
import { silentLog } from "../../../base/log/log.ts";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import { logSink } from "./log-sink.ts";
import { QueuedSink } from "./sink.ts";

const NOW = Date.UTC(2026, 0, 31);
const DAY_MS = 24 * 60 * 60_000;
const LIMITS: RotationLimits = { maxBytes: 1000, maxAgeMs: 0, maxBackups: 0, isCompressed: false };

function names(...daysAgo: readonly number[]): readonly string[] {
  return daysAgo.map((days) => backupName("audit.log", NOW - days * DAY_MS));
}

describe("a rotated file", () => {
  test("has the time of the rotation in its name", () => {
    expect(backupName("audit.log", Date.UTC(2026, 10, 15, 10, 33, 4, 123))).toBe(
      "audit-2026-11-15T10-33-04.123.log",
    );
  });

  test("is kept without a limit", () => {
    expect(planRotation("audit.log", names(1, 2, 300), { ...LIMITS, now: NOW }).remove).toEqual([]);
  });

  test("is removed when there are enough newer ones, or it is too old", () => {
    const found = names(3, 1, 2, 40);

    const byCount = planRotation("audit.log", found, { ...LIMITS, maxBackups: 2, now: NOW });
    const byAge = planRotation("audit.log", found, { ...LIMITS, maxAgeMs: 30 * DAY_MS, now: NOW });

    expect(byCount.remove).toEqual(names(3, 40));
    expect(byAge.remove).toEqual(names(40));
  });

  test("is compressed once, and only if kept", () => {
    const [first = "", second = "", third = ""] = names(1, 2, 3);
    const limits = { ...LIMITS, maxBackups: 2, isCompressed: true, now: NOW };

    const plan = planRotation("audit.log", [first, `${second}.gz`, third], limits);

    expect(plan).toEqual({ remove: [third], compress: [first] });
  });

  test("is distinguished from other files", () => {
    const others = [
      "audit.log",
      "audit-old.log",
      "audit-2026-01-01T00-00-00.000.txt",
      "other-2026-01-01T00-00-00.000.log",
    ];

    const plan = planRotation("audit.log", others, { ...LIMITS, maxAgeMs: 1, isCompressed: true, now: NOW });

    expect(plan).toEqual({ remove: [], compress: [] });
  });
});

describe("a log on disk", () => {
  function setUp(limits: Partial<RotationLimits>) {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-audit-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "logs", "audit.log");
    const loop = new VirtualLoop({ seed: 1, startAt: NOW, outside: ["file"] });
    const lost = createMetrics().counter({ name: "lost", help: "lost" }).bind({});
    const sink = logSink({ path, limits: { ...LIMITS, ...limits } }, { loop, log: silentLog, lost });
    onTestFinished(async () => {
      const closing = sink.close();
      await loop.settle();
      await closing;
    });
    const files = (): readonly string[] => readdirSync(join(folder, "logs")).toSorted();
    const text = (name: string): string => readFileSync(join(folder, "logs", name), "utf8");
    return { folder, path, loop, sink, files, text };
  }

  test("has one line for each event, in order, and only its owner can read it", async () => {
    const { path, loop, sink, text } = setUp({});

    for (let i = 0; i < 5; i++) sink.offer(`{"n":${String(i)}}`);
    await loop.settle();
    sink.offer('{"n":5}');
    await loop.settle();

    expect(text("audit.log")).toBe(Array.from({ length: 6 }, (_, n) => `{"n":${String(n)}}\n`).join(""));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  });

  test("is rotated before it exceeds its maximum size, and keeps the allowed number of backups", async () => {
    const { loop, sink, files, text } = setUp({ maxBackups: 2 });

    for (let n = 0; n < 5; n++) {
      sink.offer(String(n).repeat(600));
      await loop.settle();
      await loop.advance(1000);
    }
    const closing = sink.close();
    await loop.settle();
    await closing;

    expect(files()).toEqual([
      "audit-2026-01-31T00-00-03.000.log",
      "audit-2026-01-31T00-00-04.000.log",
      "audit.log",
    ]);
    expect(text("audit.log")).toBe(`${"4".repeat(600)}\n`);
  });

  test("compresses its backups", async () => {
    const { folder, loop, sink, files } = setUp({ isCompressed: true });

    for (const letter of ["a", "b"]) {
      sink.offer(letter.repeat(600));
      await loop.settle();
    }
    const closing = sink.close();
    await loop.settle();
    await closing;

    const [old = ""] = files();
    expect(old).toMatch(/^audit-.*\.log\.gz$/);
    expect(gunzipSync(readFileSync(join(folder, "logs", old))).toString()).toBe(`${"a".repeat(600)}\n`);
  });

  test("continues after a half-written line on a new line", async () => {
    const { path, loop, sink, text } = setUp({});
    sink.offer("first");
    const closing = sink.close();
    await loop.settle();
    await closing;
    appendFileSync(path, "half a li");

    sink.offer("second");
    await loop.settle();

    expect(text("audit.log")).toBe("first\nhalf a li\nsecond\n");
  });
});

describe("a queue", () => {
  test("drops and counts events beyond its bound, and delivers the rest in order", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const delivered: string[] = [];
    let dropped = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const deliver = async (events: readonly string[]): Promise<void> => {
      await gate;
      delivered.push(...events);
    };
    const lost = { add: (count = 1) => void (dropped += count) };
    const sink = new QueuedSink(deliver, { batchEvents: 1000 }, { loop, log: silentLog, lost });

    for (let n = 0; n < 10_500; n++) sink.offer(String(n));
    release();
    await sink.close();

    expect(delivered).toEqual(Array.from({ length: 10_000 }, (_, n) => String(n)));
    expect(dropped).toBe(500);
  });

  test("counts undelivered events, and continues", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const delivered: string[] = [];
    let dropped = 0;
    const deliver = async (events: readonly string[]): Promise<void> => {
      if (events.includes("bad")) throw new Error("no space left");
      delivered.push(...events);
    };
    const lost = { add: (count = 1) => void (dropped += count) };
    const sink = new QueuedSink(deliver, { batchEvents: 1 }, { loop, log: silentLog, lost });

    for (const event of ["a", "bad", "b"]) sink.offer(event);
    await sink.close();

    expect([delivered, dropped]).toEqual([["a", "b"], 1]);
  });
});
