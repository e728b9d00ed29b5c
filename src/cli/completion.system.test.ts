import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion.ts";

const COMMANDS: readonly Command[] = [
  {
    name: "up",
    usage: [],
    help: "the cluster's start",
    options: [
      { flags: "-d, --detach", help: "in the background" },
      { flags: "--data-dir <dir>", help: "folder" },
    ],
    run: () => Promise.resolve(),
  },
];

describe("completion", () => {
  test("of bash offers commands, then their flags", () => {
    const ask = (words: string, at: number): string =>
      execFileSync(
        "bash",
        [
          "-c",
          `${script("bash")}\nCOMP_WORDS=(${words}); COMP_CWORD=${String(at)}; _setpoint; echo "\${COMPREPLY[*]}"`,
        ],
        {
          encoding: "utf8",
        },
      ).trim();

    expect(ask("setpoint u", 1)).toBe("up");
    expect(ask("setpoint up --d", 2)).toBe("--detach --data-dir");
  });

  test("of zsh and fish has the same commands and flags", () => {
    expect(script("zsh")).toContain("up) flags=(--detach --data-dir --help) ;;");
    expect(script("fish")).toContain("-a up -d 'the cluster\\'s start'\n");
    expect(script("fish")).toContain("-l data-dir -r -d 'folder'\n");
  });
});

function script(shell: string): string {
  let text = "";
  const io = { stdout: (piece: string) => void (text += piece) };
  void completionCommand(() => COMMANDS).run(io as never, { operands: { shell }, rest: [], options: {} });
  return text;
}
