import type { ScriptLine } from "./log-script.ts";
/**
 * Derives the run of a container from a simple command: wait, create and remove files, exit with a code.
 * Commands that need a real shell or program are not simple.
 */
import { isTrue } from "./shell-conditions.ts";
import type { TimeSpan } from "./time-span.ts";

/** Ends with the code after the time. `Infinity` means that it runs forever. */
export interface CommandRun {
  readonly afterMs: number;
  readonly exitCode: number;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "ash", "dash"]);
/** Print a text and exit. */
const PRINTERS: ReadonlySet<string> = new Set(["echo", "printf", "date", "hostname", "pwd", "whoami", ":"]);
/** Send a request that always succeeds here, and exit. */
const REQUESTERS: ReadonlySet<string> = new Set(["wget", "curl", "nslookup"]);
/** Fail when the file in their arguments does not exist. */
const READERS: ReadonlySet<string> = new Set(["cat", "ls", "stat", "head", "tail"]);
const UNIT_MS = new Map([
  ["", 1000],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
/** Upper bound of the length; longer scripts are not simple. */
const SCRIPT_MAX = 2000;

/** The file whose absence makes a command fail that only reads it. */
export function findReadFile(words: readonly string[]): string | undefined {
  const [program = "", ...args] = words;
  if (SHELLS.has(baseName(program))) {
    const [flag = "", script = ""] = args;
    return /^-[a-z]*c$/.test(flag) ? findReadFile(script.trim().split(/\s+/)) : undefined;
  }
  const [file] = args;
  return READERS.has(baseName(program)) && args.length === 1 && isPath(file) ? file : undefined;
}

export interface SimpleCommand {
  readonly run: CommandRun;
  /** Files that the run creates, with the time in which each exists. */
  readonly files: ReadonlyMap<string, TimeSpan>;
  readonly output: readonly ScriptLine[];
}

export const NO_FILES: ReadonlyMap<string, TimeSpan> = new Map();

/** Undefined when the command is not simple. */
export function findSimpleCommand(words: readonly string[]): SimpleCommand | undefined {
  const [program = "", ...args] = words;
  if (SHELLS.has(baseName(program))) {
    const [flag = "", script] = args;
    return /^-[a-z]*c$/.test(flag) && script !== undefined ? readScript(script) : undefined;
  }
  const step = findStep([baseName(program), ...args]);
  if (step === undefined) return undefined;
  const { run, prints = [] } = step;
  return { run, files: NO_FILES, output: prints.map((text) => ({ afterMs: 0, text })) };
}

interface Step {
  readonly run: CommandRun;
  readonly ends: boolean;
  readonly makes?: readonly string[];
  readonly removes?: readonly string[];
  /** Lines. */
  readonly prints?: readonly string[];
}

/** Reads a sequence of simple commands, separated by `;`, `&&` or line ends. */
function readScript(script: string): SimpleCommand | undefined {
  if (script.length > SCRIPT_MAX) return undefined;
  const files = new Map<string, TimeSpan>();
  const output: ScriptLine[] = [];
  let afterMs = 0;
  let exitCode = 0;
  let isSkipping = false;
  for (const { text, joint } of statementsOf(script)) {
    const step = findStep(wordsOf(text));
    if (step === undefined) return undefined;
    if (!isSkipping) {
      afterMs += step.run.afterMs;
      exitCode = step.run.exitCode;
      noteFiles(files, step, afterMs);
      for (const line of step.prints ?? []) output.push({ afterMs, text: line });
      if (step.ends) break;
    }
    isSkipping = joint === "&&" && exitCode !== 0;
  }
  return { run: { afterMs, exitCode }, files, output };
}

function noteFiles(files: Map<string, TimeSpan>, { makes = [], removes = [] }: Step, atMs: number): void {
  for (const file of makes) if (!files.has(file)) files.set(file, { fromMs: atMs, untilMs: Infinity });
  for (const file of removes) {
    const known = files.get(file);
    if (known?.untilMs === Infinity) files.set(file, { ...known, untilMs: atMs });
  }
}

function* statementsOf(script: string): Iterable<{ readonly text: string; readonly joint: string }> {
  const parts = script.split(/(&&|;|\n)/);
  for (let i = 0; i < parts.length; i += 2) {
    const text = (parts[i] ?? "").trim();
    if (text !== "") yield { text, joint: parts[i + 1] ?? "" };
  }
}

/** Redirections, pipes and substitutions are not simple: they result in words that no command here accepts. */
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
    case "touch":
      return args.length > 0 && args.every(isPath) ? { ...DONE, makes: args } : undefined;
    case "rm":
      return findRemoval(args);
    case "test":
      return findTest(`[ ${args.join(" ")} ]`);
    default:
      return findRequest(program, args) ?? findPrinting(program, args);
  }
}

const DONE: Step = { run: { afterMs: 0, exitCode: 0 }, ends: false };

function findTest(condition: string): Step | undefined {
  const holds = isTrue(condition);
  return holds === undefined ? undefined : stepOf({ afterMs: 0, exitCode: holds ? 0 : 1 });
}

function findRemoval(args: readonly string[]): Step | undefined {
  const removes = args.filter((word) => !/^-[rRf]+$/.test(word));
  return removes.every(isPath) ? { ...DONE, removes } : undefined;
}

function findRequest(program: string, args: readonly string[]): Step | undefined {
  return REQUESTERS.has(program) && args.every(isWord) ? DONE : undefined;
}

/** The output may be redirected to a file. */
function findPrinting(program: string, args: readonly string[]): Step | undefined {
  if (!PRINTERS.has(program)) return undefined;
  const text = args.join(" ");
  const at = text.search(/[|&<>`]|\$\(/);
  if (at < 0) return { ...DONE, prints: printedLines(program, text) };
  const { file } = /^>>? ?(?<file>[^\s|&<>`]+)$/.exec(text.slice(at))?.groups ?? {};
  return isPath(file) ? { ...DONE, makes: [file] } : undefined;
}

/** Texts with variables or formats are unknown. */
function printedLines(program: string, text: string): readonly string[] {
  if ((program !== "echo" && program !== "printf") || /[$%]/.test(text)) return [];
  const plain = text.replace(/^(?:-[neE]+ )+/, "").replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2");
  return plain.replace(/\\n$/, "").split("\\n");
}

function isWord(word: string): boolean {
  return !/[|&<>`$;]/.test(word);
}

/** True for a path that every shell reads literally. */
function isPath(word: string | undefined): word is string {
  return word !== undefined && /^[\w./@:+-]+$/.test(word) && !word.startsWith("-");
}

function stepOf(run: CommandRun): Step {
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

function findSleepMs(text: string): number | undefined {
  if (text === "infinity" || text === "inf") return Infinity;
  const { amount, unit = "" } = /^(?<amount>\d{1,9}(?:\.\d{1,6})?)(?<unit>[smhd]?)$/.exec(text)?.groups ?? {};
  return amount === undefined ? undefined : Number(amount) * (UNIT_MS.get(unit) ?? 1000);
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
