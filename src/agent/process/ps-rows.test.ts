import { expect, test } from "vitest";
import { parsePsRows } from "./ps-rows.ts";

test("processes are read from the columns of macOS, which pads times", () => {
  const text = [
    "    1     0     1 Ss   Thu Nov  5 20:05:01 2026     /sbin/launchd",
    "  812   811   811 S+   Thu Nov 19 09:12:44 2026     sh /data/process/scripts/shim.sh token /data/a b",
    "",
  ].join("\n");

  expect(parsePsRows(text)).toEqual([
    { pid: 1, parent: 0, group: 1, start: "Thu Nov 5 20:05:01 2026", arguments: "/sbin/launchd" },
    {
      ...{ pid: 812, parent: 811, group: 811, start: "Thu Nov 19 09:12:44 2026" },
      arguments: "sh /data/process/scripts/shim.sh token /data/a b",
    },
  ]);
});

test("processes are read from the columns of procps", () => {
  const text = " 4711       1    4711 Sl   Thu Nov 19 20:26:09 2026 node -e 1 2\n";

  expect(parsePsRows(text)).toEqual([
    { pid: 4711, parent: 1, group: 4711, start: "Thu Nov 19 20:26:09 2026", arguments: "node -e 1 2" },
  ]);
});

test("processes that have ended are left out", () => {
  expect(parsePsRows("  9     1     9 Z+   Thu Nov 19 20:26:09 2026 (sh)\n")).toEqual([]);
});
