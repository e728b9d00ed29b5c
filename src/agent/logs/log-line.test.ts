import { describe, expect, test } from "vitest";
import { MAX_TEXT_BYTES, parseLogLine, stampOutput } from "./log-line.ts";

const AT = Date.UTC(2026, 10, 19, 4, 10, 17, 123);
const TIME = "2026-11-19T04:10:17.123000000Z";

function stamp(output: string, isLast = false): { text: string; consumed: number } {
  const { lines, consumed } = stampOutput(Buffer.from(output), { stream: "stdout", at: AT, isLast });
  return { text: Buffer.concat(lines).toString(), consumed };
}

describe("stampOutput", () => {
  test("makes one log line of each line, and leaves the start of the next one", () => {
    expect(stamp("one\n\ntwo\nthr")).toEqual({
      text: `${TIME} stdout F one\n${TIME} stdout F \n${TIME} stdout F two\n`,
      consumed: 9,
    });
  });

  test("takes the last line without a newline once nothing follows", () => {
    expect(stamp("one\ntwo", true)).toEqual({
      text: `${TIME} stdout F one\n${TIME} stdout P two\n`,
      consumed: 7,
    });
  });

  test("cuts a long line into pieces", () => {
    const { text, consumed } = stamp(`${"x".repeat(MAX_TEXT_BYTES)}yz\n`);

    expect(consumed).toBe(MAX_TEXT_BYTES + 3);
    expect(text.split("\n").map((line) => line.slice(TIME.length, TIME.length + 12))).toEqual([
      " stdout P xxx".slice(0, 12),
      " stdout F yz",
      "",
    ]);
  });

  test("takes a full piece of a line whose end is still to come", () => {
    expect(stamp("x".repeat(MAX_TEXT_BYTES + 1)).consumed).toBe(MAX_TEXT_BYTES);
  });
});

describe("parseLogLine", () => {
  test("reads a line with an empty text", () => {
    const line = parseLogLine(Buffer.from(`${TIME} stderr F `));

    expect(line).toEqual({ time: TIME, stream: "stderr", isPartial: false, text: Buffer.alloc(0) });
  });

  test("reads a piece of a line, whose text keeps its spaces", () => {
    const line = parseLogLine(Buffer.from(`${TIME} stdout P  a b `));

    expect(line).toMatchObject({ isPartial: true, text: Buffer.from(" a b ") });
  });

  test.each(["", "text", `${TIME} stdout`, `${TIME} screen F x`, `${TIME} stdout Q x`])(
    "refuses %j",
    (line) => {
      expect(parseLogLine(Buffer.from(line))).toBeUndefined();
    },
  );
});
