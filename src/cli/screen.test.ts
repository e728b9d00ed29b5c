import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Screen } from "./screen.ts";

describe("the live line", () => {
  test("is replaced, and other output goes above it", () => {
    const { screen, written } = screenOf(80);
    const print = screen.above((text) => void written.push(text));

    screen.live("one");
    screen.live("two");
    print("a log line\n");
    screen.live("");
    print("the end\n");

    expect(written).toEqual([
      "one",
      "\r\u001b[2Ktwo",
      "\r\u001b[2K",
      "a log line\n",
      "two",
      "\r\u001b[2K",
      "the end\n",
    ]);
  });

  test("is cut in a terminal of 40 columns, so that it never wraps", () => {
    const { screen, written } = screenOf(40);

    screen.live("x".repeat(60));

    expect(written[0]).toHaveLength(39);
    expect(written[0]).toMatch(/x…$/);
  });

  test("leaves nothing behind in a terminal of unknown size", () => {
    const { screen, written } = screenOf(0);

    screen.live("one");
    screen.live("");

    expect(written).toEqual(["one", "\r\u001b[2K"]);
  });
});

function screenOf(columns: number) {
  const written: string[] = [];
  const stdout = Object.assign(new PassThrough(), { columns });
  stdout.write = (text: string): boolean => written.push(text) > 0;
  return { screen: new Screen({ stdin: new PassThrough(), stdout }), written };
}
