/**
 * Runs the `console` blocks of a page in one shell and compares what they print. `$ ` begins a command, `> ` continues
 * it. In the output `…` stands for any text of a line, and alone on a line for any lines. Runs of spaces are equal.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";

export interface Command {
  readonly text: string;
  readonly output: string;
}

export function commandsOf(page: string): readonly Command[] {
  const blocks = page.matchAll(/^```console\n(?<text>[^]*?)^```$/gm);
  return [...blocks].flatMap(({ groups = {} }) =>
    (groups["text"] ?? "")
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const lines = part.split("\n");
        const end = lines.findIndex((line, at) => at > 0 && !line.startsWith("> "));
        const text = lines.slice(0, end).map((line) => line.replace(/^> /, ""));
        return { text: text.join("\n"), output: lines.slice(end).join("\n").trim() };
      }),
  );
}

export interface SessionOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** Output of each command, standard error included. */
export async function runSession(
  commands: readonly Command[],
  { cwd, env, timeoutMs }: SessionOptions,
): Promise<readonly string[]> {
  const mark = `--${randomUUID()}--`;
  const script = commands.map(({ text }) => `{ ${text}\n} 2>&1\necho; echo '${mark}'`).join("\n");
  const printed = await new Promise<string>((resolve) => {
    execFile("bash", ["-c", script], { cwd, env, timeout: timeoutMs }, (_error, stdout) => resolve(stdout));
  });
  return printed
    .split(`${mark}\n`)
    .slice(0, commands.length)
    .map((text) => text.trim());
}

export function matches(printed: string, expected: string): boolean {
  return new RegExp(`^${patternOf(expected)}$`).test(normalized(printed));
}

function patternOf(expected: string): string {
  const lines = normalized(expected).split("\n").slice(0, -1);
  return lines
    .map((line) => (line === "…" ? "(?:.*\n)*" : `${escaped(line).replaceAll("…", ".*")}\n`))
    .join("");
}

/** Each line ends with a line feed and holds no two spaces in a row. */
function normalized(text: string): string {
  const lines = text.trim().split("\n");
  return lines.map((line) => `${line.trim().replaceAll(/\s+/g, " ")}\n`).join("");
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
