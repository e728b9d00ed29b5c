import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { LogView } from "../runtime-handler.ts";
import { stampOutput, type OutputStream } from "./log-line.ts";
import { readLog } from "./log-reader.ts";
import { LogWriter } from "./log-writer.ts";

const START = Date.UTC(2026, 10, 19, 4);
const ALL: LogView = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: "All",
};

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-log-"));
  path = join(folder, "0.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

function stamped(output: string, stream: OutputStream = "stdout", at = START): readonly Buffer[] {
  return stampOutput(Buffer.from(output), { stream, at, isLast: true }).lines;
}

function given(output: string, stream?: OutputStream, at?: number): void {
  appendFileSync(path, Buffer.concat(stamped(output, stream, at)));
}

function shown(view: Partial<LogView> = {}): Promise<string> {
  return text(readLog(path, { ...ALL, ...view }));
}

async function openWriter(maxFileBytes = 1_000_000, maxFiles = 3): Promise<LogWriter> {
  const writer = new LogWriter({
    path,
    loop: createRealLoop({ name: "test" }),
    limits: { maxFileBytes, maxFiles },
  });
  await writer.open(0);
  return writer;
}

describe("a log", () => {
  test("without a file is empty", async () => {
    expect(await shown()).toBe("");
    expect(await shown({ tailLines: 3 })).toBe("");
  });

  test("shows the text of its lines", async () => {
    given("one\ntwo\n");
    given("rest");

    expect(await shown()).toBe("one\ntwo\nrest");
  });

  test("shows the time before each line, and once for a line in pieces", async () => {
    given(`${"x".repeat(20_000)}\ny\n`);

    const lines = (await shown({ timestamps: true })).split("\n");

    expect(lines.map((line) => line.length)).toEqual([20_031, 32, 0]);
    expect(lines[1]).toBe("2026-11-19T04:00:00.000000000Z y");
  });

  test.each([
    [0, ""],
    [1, "four\n"],
    [3, "two\nthree\nfour\n"],
    [4, "one\ntwo\nthree\nfour\n"],
    [9, "one\ntwo\nthree\nfour\n"],
  ])("shows its last %i lines", async (tailLines, expected) => {
    given("one\ntwo\nthree\nfour\n");

    expect(await shown({ tailLines })).toBe(expected);
  });

  test("finds its last lines in a large file", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${String(index)}`);
    given(`${lines.join("\n")}\n`);

    expect(await shown({ tailLines: 12_345 })).toBe(`${lines.slice(-12_345).join("\n")}\n`);
    expect(await shown()).toBe(`${lines.join("\n")}\n`);
  });

  test("shows lines since a time, of one stream, and bytes up to a limit", async () => {
    given("old\n");
    given("new\n", "stdout", START + 5000);
    given("error\n", "stderr", START + 5000);

    expect(await shown({ sinceMs: START + 1 })).toBe("new\nerror\n");
    expect(await shown({ stream: "Stderr" })).toBe("error\n");
    expect(await shown({ limitBytes: 6 })).toBe("old\nne");
  });
});

describe("a log that is written", () => {
  test("is followed until its end", async () => {
    const writer = await openWriter();
    await writer.append(stamped("one\n"));
    const followed = text(readLog(path, { ...ALL, follow: true }, writer));

    await writer.append(stamped("two\n"));
    await writer.append(stamped("three\n"));
    await writer.finish();

    expect(await followed).toBe("one\ntwo\nthree\n");
  });

  test("is followed across rotations without loss", async () => {
    const writer = await openWriter(300, 100);
    const followed = text(readLog(path, { ...ALL, follow: true }, writer));
    const lines = Array.from({ length: 40 }, (_, index) => `line ${String(index)}\n`);

    for (const line of lines) {
      await writer.append(stamped(line));
      await writer.rotateIfFull();
    }
    await writer.finish();

    expect(await followed).toBe(lines.join(""));
  });

  test("keeps no more files than the limit, and the newest lines", async () => {
    const writer = await openWriter(100, 3);
    const lines = Array.from({ length: 20 }, (_, index) => `line ${String(index)}\n`);
    for (const line of lines) {
      await writer.append(stamped(line));
      await writer.rotateIfFull();
    }
    await writer.finish();

    expect(readdirSync(folder)).toHaveLength(3);
    expect(await shown()).toBe(lines.slice(12).join(""));
    expect(await shown({ tailLines: 3 })).toBe("line 17\nline 18\nline 19\n");
  });

  test("stops being followed when the client leaves", async () => {
    const writer = await openWriter();
    await writer.append(stamped("one\n"));
    const stream = readLog(path, { ...ALL, follow: true }, writer);
    const closed = new Promise((resolve) => stream.once("close", resolve));

    await new Promise((resolve) => stream.once("data", resolve));
    stream.destroy();

    await closed;
    await writer.finish();
  });

  test("loses what was written behind the point that the writer noted", async () => {
    given("noted\n");
    const noted = readFileSync(path).length;
    given("again\n");
    const writer = new LogWriter({ path, loop: createRealLoop({ name: "test" }) });

    await writer.open(noted);
    await writer.append(stamped("again\n"));
    await writer.finish();

    expect(await shown()).toBe("noted\nagain\n");
  });
});
