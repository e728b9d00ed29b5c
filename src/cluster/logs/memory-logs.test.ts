import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { LogView } from "../../agent/runtime-handler.ts";
import { MemoryLogs } from "./memory-logs.ts";

const ALL: LogView = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: "All",
};

describe("logs in memory", () => {
  let now = 0;

  function written(count: number): MemoryLogs {
    const logs = new MemoryLogs(() => now);
    for (now = 0; now < count; now++) logs.of("kubelet").info(`message ${String(now)}`);
    return logs;
  }

  test("show the messages of a component as they were asked for", async () => {
    const logs = written(3);

    expect(await text(logs.read("kubelet", { ...ALL, tailLines: 1 }))).toBe(
      "1970-01-01T00:00:00.002Z info  message 2\n",
    );
    expect(await text(logs.read("kubelet", { ...ALL, sinceMs: 2, timestamps: true }))).toMatch(
      /^1970-01-01T00:00:00.002Z 1970-/,
    );
    expect(await text(logs.read("kubelet", { ...ALL, limitBytes: 4 }))).toBe("1970");
    expect(await text(logs.read("store", ALL))).toBe("");
  });

  test("keep the newest messages", async () => {
    const lines = (await text(written(1200).read("kubelet", ALL))).split("\n");

    expect([lines.length, lines[0]?.split(" ").at(-1)]).toEqual([1001, "200"]);
  });

  test("are followed until the reader leaves", async () => {
    const logs = written(1);
    const stream = logs.read("kubelet", { ...ALL, follow: true });
    let seen = "";
    stream.on("data", (piece: Buffer) => (seen += piece.toString()));
    logs.of("kubelet").warn("more");
    await expect.poll(() => seen).toContain("warn  more");
    stream.destroy();
    await expect.poll(() => stream.closed).toBe(true);

    expect(() => logs.of("kubelet").info("unheard")).not.toThrow();
  });
});
