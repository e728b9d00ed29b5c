import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogView } from "../../agent/runtime-handler.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { readComponentLog } from "./component-log-reader.ts";

const ALL: LogView = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: "All",
};

describe("the log of a component", () => {
  const loop = createRealLoop({ name: "logs" });
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "setpoint-logs-"));
    path = join(folder, "kubelet.log");
    writeFileSync(join(folder, "kubelet-2026-05-01T10-00-00.000.log"), line("09:00", "old"));
    writeFileSync(join(folder, "kube-scheduler.log"), line("09:00", "other"));
    writeFileSync(path, `${line("10:00", "new")}    at frame\n${line("11:00", "last")}`);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function read(view: Partial<LogView>): Promise<string> {
    return text(readComponentLog(path, { ...ALL, ...view }, loop));
  }

  test("includes its rotated files, oldest first", async () => {
    expect(await read({})).toBe(
      `${line("09:00", "old")}${line("10:00", "new")}    at frame\n${line("11:00", "last")}`,
    );
  });

  test("gives a stack the time of its line", async () => {
    const times = ["10:00", "10:00", "11:00"].map((time) => `2026-05-01T${time}:00.000Z `);
    const lines = [line("10:00", "new"), "    at frame\n", line("11:00", "last")];

    expect(await read({ sinceMs: Date.parse("2026-05-01T10:00:00Z"), tailLines: 3, timestamps: true })).toBe(
      lines.map((each, index) => `${times[index] ?? ""}${each}`).join(""),
    );
  });

  test("does not begin within a stack", async () => {
    expect(await read({ tailLines: 2 })).toBe(line("11:00", "last"));
  });

  test("is empty before the first line", async () => {
    expect(await text(readComponentLog(join(folder, "store.log"), ALL, loop))).toBe("");
  });

  test("is followed over a rotation, until the reader leaves", async () => {
    const stream = readComponentLog(path, { ...ALL, follow: true, tailLines: 1 }, loop);
    let seen = "";
    stream.on("data", (piece: Buffer) => (seen += piece.toString()));
    await expect.poll(() => seen).toBe(line("11:00", "last"));
    appendFileSync(path, line("12:00", "more"));
    renameSync(path, join(folder, "kubelet-2026-05-01T12-00-00.000.log"));
    writeFileSync(path, line("13:00", "rotated"));

    await expect
      .poll(() => seen)
      .toBe(line("11:00", "last") + line("12:00", "more") + line("13:00", "rotated"));
    stream.destroy();
    await expect.poll(() => stream.closed).toBe(true);
  });
});

function line(time: string, message: string): string {
  return `2026-05-01T${time}:00.000Z info  ${message}\n`;
}
