import { describe, expect, test } from "vitest";
import { findPlainRun } from "./plain-command.ts";

describe("a plain command", () => {
  test.each([
    [["true"], 0, 0],
    [["/bin/false"], 0, 1],
    [["sleep", "5"], 5000, 0],
    [["sleep", "1.5m"], 90_000, 0],
    [["sleep", "infinity"], Infinity, 0],
    [["sh", "-c", "exit 3"], 0, 3],
    [["/bin/bash", "-ec", "echo hello && sleep 2; exit 4"], 2000, 4],
    [["sh", "-c", "false && sleep 10"], 0, 1],
    [["sh", "-c", "false; sleep 10"], 10_000, 0],
    [["sh", "-c", "echo one\necho two"], 0, 0],
    [["echo", "hello world"], 0, 0],
  ])("%j says when and how it ends", (words, afterMs, exitCode) => {
    expect(findPlainRun(words)).toEqual({ afterMs, exitCode });
  });

  test.each([
    [["nginx", "-g", "daemon off;"]],
    [["sh"]],
    [["sh", "-c", "while true; do sleep 1; done"]],
    [["sh", "-c", "sleep $TIME"]],
    [["sh", "-c", "echo hi | cat"]],
    [["sleep", "-1"]],
    [["sleep", "1", "2"]],
  ])("%j says neither", (words) => {
    expect(findPlainRun(words)).toBeUndefined();
  });
});
