/** `setpoint demo` tells the whole story, and tells it in the same way each time. */
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import { runCli } from "../../src/cli/cli.ts";
import type { UserScreen } from "../../src/cli/command.ts";
import { streamsWith } from "../../src/cli/streams-fixture.ts";

const PICTURE = new URL("../../docs/picture.svg", import.meta.url);

interface Playing {
  readonly signal?: AbortSignal;
  /** Width of a terminal. */
  readonly columns?: number;
}

async function play({ signal = new AbortController().signal, columns }: Playing = {}): Promise<string> {
  let text = "";
  await runCli(["demo", "--fast"], {
    stdout: (line) => (text += line),
    stderr: (line) => (text += line),
    exit: () => undefined,
    log: silentLog,
    env: {},
    streams: () => streamsWith(),
    homeDir: "/home/user",
    workingDir: "/current",
    programFile: "setpoint",
    signal,
    ...(columns !== undefined && { screen: screenOf(columns) }),
  });
  return text;
}

function screenOf(columns: number): UserScreen {
  return {
    hasColours: true,
    live: () => undefined,
    ask: async () => "",
    full: {
      size: { columns, rows: 24 },
      enter: () => undefined,
      leave: () => undefined,
      write: async () => undefined,
      suspend: () => undefined,
    },
  };
}

describe("setpoint demo", () => {
  test("shows each scene with its outcome", async () => {
    const text = await play();

    for (const part of [
      /is {7}RRR {2}3 of 3 pods ready/,
      /you deleted Pod web-\S+ .*\n.*replicaset-controller saw ReplicaSet .* wants 3 pods, has 2/,
      /100 of 150 pods ready after 5\d s/,
      /then 50 pods are replaced .*\n.*150 of 150 pods ready, 50 ending/,
      /2 of 5 parts; the controller was killed\n.*5 of 5 parts/,
      /log {6}a control loop does not settle .*\n.*field=data.position writers=\["(?:opener|shutter)"/,
      /restart 2 after 10 s\n.*restart 3 after 20 s\n.*restart 4 after 40 s/,
      /container app ended with code 1/,
      /none of 3 nodes fits: 3 Insufficient cpu/,
      /finalizer example.com\/empty-first/,
      /gone, once the finalizer was removed/,
      /is {7}no pods/,
    ])
      expect(text).toMatch(part);
    expect(text.split("\n").every((line) => line.length <= 116)).toBe(true);
    // The picture was made from this story by scripts/generate-picture.mjs.
    const picture = readFileSync(PICTURE, "utf8");
    const told = text.match(/^(?:\d+\. |  desired  |  did {6}restart |  blocked by).*$/gm) ?? [];
    expect(told.filter((line) => !picture.includes(line.replace(/^ +\w+ +/, "")))).toEqual([]);
    expect(told.length).toBeGreaterThan(20);
    expect(picture.length).toBeLessThan(200_000);
  }, 180_000);

  test("fits into a narrow terminal", async () => {
    const text = stripVTControlCharacters(await play({ columns: 60 }));
    const lines = text.split("\n");

    // A command is never broken.
    expect(lines.filter((line) => line.length > 60 && !line.includes("kubectl"))).toEqual([]);
  }, 180_000);

  test("ends at once when the user ends it", async () => {
    expect(await play({ signal: AbortSignal.abort() })).not.toContain("1. You declare");
  });
});
