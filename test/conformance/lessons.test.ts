/** The commands of the lessons, run on a new cluster each, print what the pages show. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describePeer } from "../peers.ts";
import { commandsOf, matches, runSession } from "./console-session.ts";
import { ROOT } from "./package-consumer.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const FOLDER = join(ROOT, "docs/learn");
const pages = readdirSync(FOLDER).filter((page) => commandsIn(page).length > 0);

test.each([
  ["a\nb", "a\nb", true],
  ["NAME   AGE\nx      3s", "NAME AGE\nx …", true],
  ["waiting\nwaiting\ndone", "…\ndone", true],
  ["done", "…\ndone", true],
  ["failed", "…\ndone", false],
  ["a\nb", "a", false],
  ["a.c", "abc", false],
])("printing %j where the page shows %j: %s", (printed, shown, expected) => {
  expect(matches(printed, shown)).toBe(expected);
});

describePeer("kubectl", "the lessons", (kubectl) => {
  test.each(pages)("%s prints what it shows", async (page) => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    await using cluster = await RunningCluster.start(folder, { loops: "all", nodes: 3 });
    const cwd = join(folder.path, "work");
    mkdirSync(cwd);
    const program = join(folder.path, "setpoint");
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "dist/cli.js")}" "$@"\n`, {
      mode: 0o755,
    });
    const env = {
      ...process.env,
      HOME: cwd,
      KUBECONFIG: cluster.kubeconfig,
      PATH: [folder.path, dirname(kubectl), process.env["PATH"]].join(delimiter),
    };
    const commands = commandsIn(page);

    const printed = await runSession(commands, { cwd, env, timeoutMs: 50_000 });

    const wrong = commands.flatMap(({ text, output }, at) =>
      matches(printed[at] ?? "", output) ? [] : [{ command: text, shown: output, printed: printed[at] }],
    );
    expect(wrong).toEqual([]);
  });
});

function commandsIn(page: string): ReturnType<typeof commandsOf> {
  return commandsOf(readFileSync(join(FOLDER, page), "utf8"));
}
