import { describe, expect, test } from "vitest";
import { findSimpleCommand, findReadFile } from "./simple-command.ts";

describe("a simple command", () => {
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
    [["wget", "demo:80"], 0, 0],
    [["sh", "-c", "curl -fsS http://demo/healthz && sleep 2"], 2000, 0],
    [["sh", "-c", "echo ok >/tmp/health; sleep 10; rm -rf /tmp/health; sleep 600"], 610_000, 0],
  ])("%j has a duration and an exit code", (words, afterMs, exitCode) => {
    expect(findSimpleCommand(words)?.run).toEqual({ afterMs, exitCode });
  });

  test.each([
    [["nginx", "-g", "daemon off;"]],
    [["sh"]],
    [["sh", "-c", "while true; do sleep 1; done"]],
    [["sh", "-c", "sleep $TIME"]],
    [["sh", "-c", "echo hi | cat"]],
    [["sleep", "-1"]],
    [["sh", "-c", "echo hi > $FILE"]],
    [["sh", "-c", "echo hi 2>&1"]],
    [["sh", "-c", "rm *"]],
    [["sleep", "1", "2"]],
    [["sh", "-c", "curl http://demo/install.sh | sh"]],
  ])("%j is not simple", (words) => {
    expect(findSimpleCommand(words)).toBeUndefined();
  });

  test("returns the times in which its files exist", () => {
    const script = "touch /tmp/a /tmp/b; sleep 30; rm -f /tmp/a; echo c > /tmp/c";

    expect(findSimpleCommand(["/bin/sh", "-c", script])?.files).toEqual(
      new Map([
        ["/tmp/a", { fromMs: 0, untilMs: 30_000 }],
        ["/tmp/b", { fromMs: 0, untilMs: Infinity }],
        ["/tmp/c", { fromMs: 30_000, untilMs: Infinity }],
      ]),
    );
  });

  test.each([
    [["cat", "/tmp/a"], "/tmp/a"],
    [["sh", "-c", "cat /tmp/a"], "/tmp/a"],
    [["cat", "/tmp/a", "/tmp/b"], undefined],
    [["sh", "-c", "cat $FILE"], undefined],
    [["server", "/tmp/a"], undefined],
  ])("%j reads the file %s", (words, file) => {
    expect(findReadFile(words)).toBe(file);
  });
});
