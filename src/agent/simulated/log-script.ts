/** The log of a simulated container: a pure function of its annotations, its command and the time of its run. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { findSimulated, findSimulatedMs } from "../../resources/pod/simulated-annotations.ts";

/** A line with its time after the start of the run. */
export interface ScriptLine {
  readonly afterMs: number;
  readonly text: string;
}

export interface LogScript {
  /** In the order of their times. */
  readonly lines: readonly ScriptLine[];
  /** The lines repeat with this period; undefined for lines that are printed once. */
  readonly everyMs: number | undefined;
}

/** A line with its time in milliseconds since the epoch. */
export interface LogEntry {
  readonly at: number;
  readonly text: string;
}

/** Lines of a run that are kept; a node drops older ones, as the kubelet's rotation does. */
const KEPT_MAX = 10_000;
/** Shortest period of repeated lines. */
const PERIOD_MIN_MS = 100;
/** `+2s listening on port 80`: printed two seconds after the start. */
const TIMED = /^\+(?<after>\S+) (?<text>.*)$/;

/** `output` is that of a simple command, which the container is known to print. */
export function logScriptOf(pod: Pod, { name }: Container, output: readonly ScriptLine[]): LogScript {
  const declared = findSimulated(pod, name, "log");
  const every = findSimulated(pod, name, "log-every");
  const lines = declared === undefined ? output : declaredLines(declared);
  const started = { afterMs: 0, text: `simulated: container ${name} started, nothing is executed` };
  return {
    lines: declared === undefined && lines.length === 0 ? [started] : lines,
    everyMs: declared === undefined || every === undefined ? undefined : periodOf(every, lines),
  };
}

function declaredLines(text: string): readonly ScriptLine[] {
  const lines = text.replace(/\n$/, "").split("\n", KEPT_MAX).map(declaredLine);
  return lines.toSorted((a, b) => a.afterMs - b.afterMs);
}

function declaredLine(line: string): ScriptLine {
  const { after = "", text = "" } = TIMED.exec(line)?.groups ?? {};
  const afterMs = after === "" ? undefined : findSimulatedMs(after);
  return afterMs === undefined || afterMs === Infinity ? { afterMs: 0, text: line } : { afterMs, text };
}

/** A round ends before the next one begins. */
function periodOf(every: string, lines: readonly ScriptLine[]): number | undefined {
  const everyMs = findSimulatedMs(every);
  if (everyMs === undefined || everyMs === Infinity) return undefined;
  return Math.max(everyMs, PERIOD_MIN_MS, lines.at(-1)?.afterMs ?? 0);
}

/** Consecutive lines of a run by their numbers; the first line has number 0. */
export interface LineRange {
  readonly from: number;
  /** Number of the line behind the last. */
  readonly to: number;
}

/** The kept lines in the times `after < at <= until` of a run that started at `startedAt`. */
export function keptLines(
  script: LogScript,
  startedAt: number,
  { after, until }: { readonly after: number; readonly until: number },
): LineRange {
  const to = countAt(script, until - startedAt);
  return { from: Math.min(to, Math.max(countAt(script, after - startedAt), to - KEPT_MAX)), to };
}

export function lineOf({ lines, everyMs = 0 }: LogScript, startedAt: number, number: number): LogEntry {
  const { afterMs = 0, text = "" } = lines[number % lines.length] ?? {};
  return { at: startedAt + Math.floor(number / lines.length) * everyMs + afterMs, text };
}

/** Number of the lines that are printed within a time after the start. */
function countAt({ lines, everyMs }: LogScript, elapsedMs: number): number {
  if (elapsedMs < 0) return 0;
  const rounds = everyMs === undefined ? 0 : Math.floor(elapsedMs / everyMs);
  const within = elapsedMs - rounds * (everyMs ?? 0);
  const later = lines.findIndex(({ afterMs }) => afterMs > within);
  return rounds * lines.length + (later < 0 ? lines.length : later);
}

/** Time of the next line behind `after`; undefined when none follows. */
export function nextEntryAt(
  { lines, everyMs }: LogScript,
  startedAt: number,
  after: number,
): number | undefined {
  const elapsed = after - startedAt;
  const round = everyMs === undefined ? 0 : Math.max(0, Math.floor(elapsed / everyMs));
  const within = lines.find(({ afterMs }) => round * (everyMs ?? 0) + afterMs > elapsed);
  if (within !== undefined) return startedAt + round * (everyMs ?? 0) + within.afterMs;
  const [first] = lines;
  return everyMs === undefined || first === undefined
    ? undefined
    : startedAt + (round + 1) * everyMs + first.afterMs;
}
