import { describe, expect, test } from "vitest";
import { createTextLog } from "./log-text.ts";
import { createLog } from "./pino-log.ts";

function collected(): { lines: string[]; write: (line: string) => void } {
  const lines: string[] = [];
  return { lines, write: (line) => void lines.push(line) };
}

describe("createLog", () => {
  test("a line is one JSON object with level, time, message and all fields", () => {
    const destination = collected();
    const log = createLog({ destination }).with({ actor: "cluster" });
    log.warn("disk is slow", { waitMs: 12, error: new Error("broken") });

    expect(destination.lines).toHaveLength(1);
    const line: unknown = JSON.parse(destination.lines[0] ?? "");
    expect(line).toMatchObject({ level: "warn", message: "disk is slow", actor: "cluster", waitMs: 12 });
    expect(line).toHaveProperty("time", expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/));
    expect(line).toHaveProperty("error.message", "broken");
  });

  test("what is below the level is not written", () => {
    const destination = collected();
    createLog({ level: "warn", destination }).info("nobody asked");

    expect(destination.lines).toEqual([]);
  });
});

describe("createTextLog", () => {
  test("a message cannot forge a second line", () => {
    const { lines, write } = collected();
    createTextLog({ isColoured: false, write }).with({ actor: "a/b" }).error("one\ntwo", { why: "x y\n" });

    expect(lines.join("")).toMatch(/^\d\d:\d\d:\d\d\.\d{3} error one two actor=a\/b why="x y\\n"\n$/);
  });

  test("a value that has no JSON is told as well", () => {
    const { lines, write } = collected();
    createTextLog({ isColoured: false, write }).warn("odd", { generation: 9007199254740993n });

    expect(lines.join("")).toContain("odd generation=9007199254740993n");
  });

  test("the level is coloured when asked for", () => {
    const { lines, write } = collected();
    createTextLog({ level: "debug", isColoured: true, write }).debug("hello");

    expect(lines.join("")).toContain("\u001b[");
  });
});
