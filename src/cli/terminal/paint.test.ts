import { describe, expect, test } from "vitest";
import { Frame } from "./frame.ts";
import { paint, printFrame } from "./paint.ts";

const SIZE = { columns: 20, rows: 3 };

function frameOf(...lines: readonly string[]): Frame {
  const frame = new Frame(SIZE);
  for (const [y, line] of lines.entries()) frame.put({ x: 0, y }, line);
  return frame;
}

/** Without the marks around a whole frame. */
function inner(text: string): string {
  return text.replace("\u001B[?2026h", "").replace("\u001B[0m\u001B[?2026l", "");
}

describe("paint", () => {
  test("clears the terminal and writes what is not blank, without a frame before", () => {
    expect(inner(paint(undefined, frameOf("ab", "", " c"), "none"))).toBe(
      "\u001B[0m\u001B[2J\u001B[1;1H\u001B[0mab\u001B[3;2Hc",
    );
  });

  test("writes nothing when nothing differs", () => {
    expect(paint(frameOf("ab"), frameOf("ab"), "256")).toBe("");
  });

  test("writes only what differs, and a short gap as well", () => {
    const text = paint(frameOf("one two three", "same"), frameOf("one TwO three", "same"), "none");

    expect(inner(text)).toBe("\u001B[1;5H\u001B[0mTwO");
  });

  test("moves the cursor over a long gap", () => {
    const text = paint(frameOf("a 12345678 b"), frameOf("A 12345678 B"), "none");

    expect(inner(text)).toBe("\u001B[1;1H\u001B[0mA\u001B[1;12HB");
  });

  test("writes a character of two columns as a whole", () => {
    expect(inner(paint(frameOf("a世b"), frameOf("a界b"), "none"))).toBe("\u001B[1;2H\u001B[0m界");
    expect(inner(paint(frameOf("a世b"), frameOf("abcb"), "none"))).toBe("\u001B[1;2H\u001B[0mbc");
  });

  test("draws anew after a change of size", () => {
    const text = paint(new Frame({ columns: 5, rows: 3 }), frameOf("a"), "none");

    expect(inner(text)).toBe("\u001B[0m\u001B[2J\u001B[1;1H\u001B[0ma");
  });

  test("sets each style once, in the colours of the terminal", () => {
    const frame = new Frame(SIZE);
    frame.putSpans({ x: 0, y: 0 }, [
      ["ab", "good"],
      ["c", "bad selected"],
    ]);

    expect(inner(paint(frameOf(), frame, "16"))).toBe("\u001B[1;1H\u001B[0;32mab\u001B[0;1;7;31mc");
    expect(inner(paint(frameOf(), frame, "256"))).toBe(
      "\u001B[1;1H\u001B[0;38;5;78mab\u001B[0;1;7;38;5;203mc",
    );
    expect(inner(paint(frameOf(), frame, "none"))).toBe("\u001B[1;1H\u001B[0mab\u001B[0;1;7mc");
  });

  test("cuts off what lies outside, and shows no control characters", () => {
    const frame = new Frame({ columns: 3, rows: 1 });
    frame.put({ x: 1, y: 0 }, "\u001B[2Jlong");
    frame.put({ x: 0, y: 7 }, "below");
    frame.put({ x: 2, y: 0 }, "世");

    expect(frame.text()).toBe("  [\n");
  });
});

describe("printFrame", () => {
  test("prints lines without blanks at their ends", () => {
    expect(printFrame(frameOf("a", "", " b"), "none")).toBe("a\n\n b\n");
    expect(printFrame(frameOf("a"), "16")).toBe("\u001B[0ma\u001B[0m\n");
  });
});
