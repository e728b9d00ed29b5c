import { describe, expect, test } from "vitest";
import { afterBookmark, afterChange, newestVersion } from "./watcher-position.ts";
import type { Position } from "./watcher-position.ts";

const AT_5: Position = { complete: "5" };

/** Applies all changes and returns which of them were new. */
function taken(start: Position, ...changes: readonly (readonly [version: string, key: string])[]) {
  let position = start;
  const isNew = changes.map(([version, key]) => {
    const next = afterChange(position, version, key);
    position = next ?? position;
    return next !== undefined;
  });
  return { isNew, position };
}

describe("a position", () => {
  test("resumes before the revision of its last change, which may be incomplete", () => {
    const { position } = taken(AT_5, ["7", "a"], ["9", "b"]);

    expect(position.complete).toBe("7");
    expect(newestVersion(position)).toBe("9");
  });

  test("skips changes that a resumed watch repeats, and accepts the rest of a revision", () => {
    const { isNew } = taken(AT_5, ["7", "a"], ["7", "b"], ["7", "a"], ["7", "b"], ["7", "c"], ["8", "a"]);

    expect(isNew).toEqual([true, true, false, false, true, true]);
  });

  test("never accepts a change older than itself", () => {
    expect(taken(AT_5, ["4", "a"], ["5", "a"]).isNew).toEqual([false, false]);
    expect(taken(AT_5, ["9", "a"], ["7", "b"], ["8", "b"]).isNew).toEqual([true, false, false]);
    expect(taken(AT_5, ["9", "a"], ["10", "a"], ["9", "a"]).isNew).toEqual([true, true, false]);
  });

  test("compares versions without order by equality", () => {
    const { isNew, position } = taken(
      { complete: "x" },
      ["x", "a"],
      ["y", "a"],
      ["y", "a"],
      ["y", "b"],
      ["z", "a"],
    );

    expect(isNew).toEqual([false, true, false, true, true]);
    expect(position.complete).toBe("y");
  });

  test("is complete at a bookmark", () => {
    const { position } = taken(AT_5, ["7", "a"]);

    expect(afterBookmark(position, "7")).toEqual({ complete: "7" });
    expect(afterBookmark(position, "12")).toEqual({ complete: "12" });
    expect(afterBookmark({ complete: "x" }, "y")).toEqual({ complete: "y" });
  });

  test("stays the same at a bookmark of a server that has not reached its last change", () => {
    const { position } = taken(AT_5, ["7", "a"]);

    expect(afterBookmark(position, "6")).toBe(position);
  });

  test("detects by a bookmark that a server is behind", () => {
    expect(afterBookmark(AT_5, "4")).toBeUndefined();
  });
});
