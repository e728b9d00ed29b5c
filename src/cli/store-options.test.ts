import { describe, expect, test } from "vitest";
import { parseHistory } from "./store-options.ts";

function parsed(history: string, store = "file"): ReturnType<typeof parseHistory> {
  return parseHistory({ operands: {}, rest: [], options: { history, store } });
}

describe("--history", () => {
  test.each([
    ["1h", 3_600_000, 4 * 1024 ** 3],
    ["1GiB", 30 * 24 * 3_600_000, 1024 ** 3],
    ["90m,512Mi", 5_400_000, 512 * 1024 ** 2],
  ])("%s", (text, windowMs, maxBytes) => {
    expect(parsed(text)).toEqual({ windowMs, maxBytes });
  });

  test.each(["", "1", "1m", "1MiB", "soon", "1h,soon"])("is refused as %j", (text) => {
    expect(() => parsed(text)).toThrow("--history must be at least 5m or 64MiB");
  });

  test("is refused with etcd, which has a history of its own", () => {
    expect(() => parsed("1h", "etcd")).toThrow("not for --store etcd");
  });
});
