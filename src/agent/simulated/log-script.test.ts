import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { keptLines, lineOf, logScriptOf, nextEntryAt, type LogScript } from "./log-script.ts";

const WEB = incomplete<Container>({ name: "web" });

function scriptOf(annotations: Readonly<Record<string, string>>): LogScript {
  const named = Object.entries(annotations).map(
    ([name, value]) => [`simulated.setpoint.dev/${name}`, value] as const,
  );
  return logScriptOf(incomplete<Pod>({ metadata: { annotations: Object.fromEntries(named) } }), WEB, []);
}

function texts(script: LogScript, after: number, until: number): readonly string[] {
  const { from, to } = keptLines(script, 1000, { after, until });
  return Array.from({ length: to - from }, (_, index) => {
    const { at, text } = lineOf(script, 1000, from + index);
    return `${String(at)} ${text}`;
  });
}

describe("the log of a simulated container", () => {
  test("says by default that nothing is executed", () => {
    expect(texts(scriptOf({}), 0, 5000)).toEqual([
      "1000 simulated: container web started, nothing is executed",
    ]);
  });

  test("is the known output of a simple command", () => {
    const script = logScriptOf(incomplete<Pod>({ metadata: {} }), WEB, [{ afterMs: 3000, text: "done" }]);

    expect(texts(script, 0, 3999)).toEqual([]);
    expect(texts(script, 0, 4000)).toEqual(["4000 done"]);
  });

  test("has declared lines, at the declared times", () => {
    const script = scriptOf({ log: "+2s listening\nstarting\n+soon ready\n" });

    expect(texts(script, 0, 9000)).toEqual(["1000 starting", "1000 +soon ready", "3000 listening"]);
    expect(nextEntryAt(script, 1000, 1000)).toBe(3000);
    expect(nextEntryAt(script, 1000, 3000)).toBeUndefined();
  });

  test("repeats lines with a period", () => {
    const script = scriptOf({ log: "tick\n+1s tock", "log-every": "10s" });

    expect(texts(script, 1000, 12_000)).toEqual(["2000 tock", "11000 tick", "12000 tock"]);
    expect(nextEntryAt(script, 1000, 2000)).toBe(11_000);
    expect(nextEntryAt(script, 1000, 11_000)).toBe(12_000);
  });

  test("keeps a bounded number of lines of a long run", () => {
    const script = scriptOf({ log: "tick", "log-every": "1s" });
    const until = 1000 + 86_400_000 * 30;
    const { from, to } = keptLines(script, 1000, { after: 0, until });

    expect(to - from).toBe(10_000);
    expect(lineOf(script, 1000, to - 1).at).toBe(until);
  });

  test("has lines at the end of a period, once each", () => {
    const script = scriptOf({ log: "tick\n+1s tock", "log-every": "1s" });

    expect(texts(script, 0, 3000)).toEqual(["1000 tick", "2000 tock", "2000 tick", "3000 tock", "3000 tick"]);
    expect(texts(script, 2000, 3000)).toEqual(["3000 tock", "3000 tick"]);
  });

  test("finds the lines since a late time without the earlier rounds", () => {
    const script = scriptOf({ log: "tick", "log-every": "1s" });
    const at = 1000 + 86_400_000 * 30;

    expect(texts(script, at - 1, at + 1000)).toEqual([`${String(at)} tick`, `${String(at + 1000)} tick`]);
  });
});
