/** What a command plainly says a container does: wait, end with a code. Everything that would need a shell or a program is not plain. */

/** Ends with the code after the time; a time without end means that it runs for ever. */
export interface PlainRun {
  readonly afterMs: number;
  readonly exitCode: number;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "ash", "dash"]);
/** They print something and are done. */
const PRINTERS: ReadonlySet<string> = new Set(["echo", "printf", "date", "hostname", "pwd", "whoami", ":"]);
const UNIT_MS = new Map([
  ["", 1000],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
/** Longer scripts are not looked into. */
const SCRIPT_MAX = 2000;

/** Undefined when the words do not say it plainly. */
export function findPlainRun(words: readonly string[]): PlainRun | undefined {
  const [program = "", ...args] = words;
  if (SHELLS.has(baseName(program))) {
    const [flag = "", script] = args;
    return /^-[a-z]*c$/.test(flag) && script !== undefined ? findScriptRun(script) : undefined;
  }
  return findStep([baseName(program), ...args])?.run;
}

interface Step {
  readonly run: PlainRun;
  readonly ends: boolean;
}

/** Simple commands in a row, by `;`, `&&` or line ends. */
function findScriptRun(script: string): PlainRun | undefined {
  if (script.length > SCRIPT_MAX) return undefined;
  let afterMs = 0;
  let exitCode = 0;
  let isSkipping = false;
  for (const { text, joint } of statementsOf(script)) {
    const step = findStep(wordsOf(text));
    if (step === undefined) return undefined;
    if (!isSkipping) {
      afterMs += step.run.afterMs;
      exitCode = step.run.exitCode;
      if (step.ends) break;
    }
    isSkipping = joint === "&&" && exitCode !== 0;
  }
  return { afterMs, exitCode };
}

function* statementsOf(script: string): Iterable<{ readonly text: string; readonly joint: string }> {
  const parts = script.split(/(&&|;|\n)/);
  for (let i = 0; i < parts.length; i += 2) {
    const text = (parts[i] ?? "").trim();
    if (text !== "") yield { text, joint: parts[i + 1] ?? "" };
  }
}

/** Redirections, pipes and substitutions are not plain: they come out as words that no command here takes. */
function wordsOf(text: string): readonly string[] {
  const words = text.split(/\s+/);
  return [baseName(words[0] ?? ""), ...words.slice(1)];
}

function findStep([program = "", ...args]: readonly string[]): Step | undefined {
  switch (program) {
    case "true":
      return stepOf({ afterMs: 0, exitCode: 0 });
    case "false":
      return stepOf({ afterMs: 0, exitCode: 1 });
    case "exit":
      return findExit(args);
    case "sleep":
      return findSleep(args);
    default:
      return isPrinting(program, args) ? stepOf({ afterMs: 0, exitCode: 0 }) : undefined;
  }
}

function stepOf(run: PlainRun): Step {
  return { run, ends: false };
}

function findExit([code = "0"]: readonly string[]): Step | undefined {
  if (!/^\d{1,3}$/.test(code)) return undefined;
  return { run: { afterMs: 0, exitCode: Number(code) & 255 }, ends: true };
}

function findSleep(args: readonly string[]): Step | undefined {
  const afterMs = args.length === 1 ? findSleepMs(args[0] ?? "") : undefined;
  return afterMs === undefined ? undefined : stepOf({ afterMs, exitCode: 0 });
}

function isPrinting(program: string, args: readonly string[]): boolean {
  return PRINTERS.has(program) && args.every((word) => !/[|&<>`]|\$\(/.test(word));
}

function findSleepMs(text: string): number | undefined {
  if (text === "infinity" || text === "inf") return Infinity;
  const { amount, unit = "" } = /^(?<amount>\d{1,9}(?:\.\d{1,6})?)(?<unit>[smhd]?)$/.exec(text)?.groups ?? {};
  return amount === undefined ? undefined : Number(amount) * (UNIT_MS.get(unit) ?? 1000);
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
