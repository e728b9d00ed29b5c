import { describe, expect, test } from "vitest";
import { resolveConditions } from "./shell-conditions.ts";
import { findSimpleCommand } from "./simple-command.ts";

const SEVERAL =
  "if [ $INDEX -eq 0 ]; then exit 4; elif [ $INDEX -eq 1 ]; then exit 5; elif [ $INDEX -eq 2 ]; then exit 6; else exit 7; fi";

describe("a script with choices", () => {
  const odd = "\n if [ $(expr ${INDEX} % 2) -ne 0 ]; then\n exit 1\n else\n exit 0\n fi\n";

  test.each([
    [odd, "0", 0],
    [odd, "3", 1],
    ["if [[ $INDEX -eq 0 ]]\nthen\n exit 4\nfi; exit 5", "0", 4],
    ["if [[ $INDEX -eq 0 ]]\nthen\n exit 4\nfi; exit 5", "1", 5],
    ['if [ "$INDEX" = "2" ]; then if [ 1 -gt 0 ]; then exit 7; fi; fi', "2", 7],
    ["exit $((INDEX + 1))", "x", undefined],
    ["exit $(( $INDEX + 1 ))", "2", 3],
    ["if [ -r /data/foo ]; then exit $INDEX; fi", "1", undefined],
    ["if [ $OTHER -eq 1 ]; then exit 1; fi", "1", undefined],
    ["if [ $INDEX -eq 1 ]; then exit 1; elif true; then exit 2; fi", "1", undefined],
    [SEVERAL, "0", 4],
    [SEVERAL, "1", 5],
    [SEVERAL, "2", 6],
    [SEVERAL, "3", 7],
    ["if [ $INDEX -eq 0 ]; then exit 4; elif [ $INDEX -eq 1 ]; then exit 5; fi; exit 8", "2", 8],
    ["exit $(expr $INDEX / 0)", "1", undefined],
  ])("%j with %s ends with its exit code, if that is decidable", (script, index, exitCode) => {
    const reduced = resolveConditions(script, {
      environment: new Map([["INDEX", index]]),
      isThere: () => undefined,
    });

    expect(findSimpleCommand(["sh", "-c", reduced])?.run.exitCode).toBe(exitCode);
  });

  const once = "if [[ -r /data/foo ]] ; then exit 0 ; else touch /data/foo ; exit 1 ; fi";

  test.each([
    [once, true, 0],
    [once, false, 1],
    [once, undefined, undefined],
    ["if [ ! -e /data/foo ]; then exit 3; fi; exit 4", false, 3],
    ["if [ ! -e /data/foo ]; then exit 3; fi; exit 4", true, 4],
    ["touch /data/foo; if [ -f /data/foo ]; then exit 1; fi", false, undefined],
    ["if [ -d /data/foo ]; then exit 1; fi", true, undefined],
  ])(
    "%j with a file that exists (%s) ends with its exit code, if that is decidable",
    (script, isThere, exitCode) => {
      const reduced = resolveConditions(script, { environment: new Map(), isThere: () => isThere });

      expect(findSimpleCommand(["sh", "-c", reduced])?.run.exitCode).toBe(exitCode);
    },
  );
});
