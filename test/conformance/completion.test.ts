/** Tab in real shells: each completes commands, options and values with the script that the program prints. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import { Folder } from "./running-cluster.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const folder = new Folder();
const options = {
  encoding: "utf8" as const,
  cwd: folder.path,
  env: { ...process.env, HOME: folder.path, SETPOINT_HOME: folder.path, TERM: "dumb" },
};

afterAll(() => folder.remove());

function scriptFor(shell: string): string {
  return execFileSync("node", [CLI, "completion", shell], options);
}

/** Lines with one candidate, and the word that takes the place of the last one. */
const LINES = [
  ["setpoint versi", "version"],
  ["setpoint up --data-d", "--data-dir"],
  ["setpoint up --store m", "memory"],
  ["setpoint up --store=m", "--store=memory"],
  ["setpoint completion fi", "fish"],
] as const;

test.each(LINES)("bash completes %j to %j", (line, word) => {
  // bash splits words at "=", too.
  const words = line.split(/ |(?==)|(?<==)/);
  const ask = `
    COMP_LINE=$1 COMP_POINT=\${#1}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _setpoint; printf '%s\\n' "\${COMPREPLY[@]}"`;

  const reply = execFileSync("bash", ["-c", scriptFor("bash") + ask, "bash", line, ...words], options);

  const isSplit = line.includes("=");
  expect(reply).toBe(`${isSplit ? (word.split("=")[1] ?? "") : word}\n`);
});

describePeer("fish", "completion of fish", (fish) => {
  test.each(LINES)("completes %j to %j", (line, word) => {
    const code = `${scriptFor("fish")}\ncomplete -C '${line}'`;

    const reply = execFileSync(fish, ["--no-config", "-c", code], options);

    expect(reply.split("\n").map((each) => each.split("\t")[0])).toEqual([word, ""]);
  });
});

describePeer("zsh", "completion of zsh", (zsh) => {
  /**
   * Types the line, Tab and Enter into an interactive shell, in which `setpoint` prints its arguments. Quotes keep what the
   * terminal echoes from looking like what the shell prints.
   */
  const DRIVER = `
    zmodload zsh/zpty
    zpty shell $1 -f -i
    zpty -w shell 'setpoint() { print -r -- beg""in:"$*":e""nd }'
    zpty -w shell "source $2; print -r -- loa''ded"
    zpty -r shell out '*loaded*'
    zpty -w shell "$3"$'\\t'
    zpty -r shell out '*begin:*:end*'
    print -r -- $out
    zpty -d shell`;

  test.each(LINES)("completes %j to %j", (line, word) => {
    const script = join(folder.path, "completion.zsh");
    writeFileSync(script, scriptFor("zsh"));

    const reply = execFileSync(zsh, ["-f", "-c", DRIVER, "zsh", zsh, script, line], options);

    const begun = line.slice("setpoint ".length, line.lastIndexOf(" ") + 1);
    expect(reply).toContain(`begin:${begun}${word}:end`);
  });
});
