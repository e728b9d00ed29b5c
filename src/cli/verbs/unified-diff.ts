/** Differences of two texts as `diff -u` shows them. */

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

const CONTEXT = 3;

/** Upper bound of compared pairs of lines; larger changes are shown as one replacement. */
const PAIRS_MAX = 4_000_000;

type Line = { readonly type: " " | "-" | "+"; readonly text: string };

/** Empty for equal texts. */
export function unifiedDiff(before: NamedText, after: NamedText): string {
  if (before.text === after.text) return "";
  const lines = differences(linesOf(before.text), linesOf(after.text));
  return `--- ${before.name}\n+++ ${after.name}\n${hunksOf(lines).map(hunkText).join("")}`;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function differences(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let same = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (same < rest && before.at(-1 - same) === after.at(-1 - same)) same++;
  const kept = (text: string): Line => ({ type: " ", text });
  return [
    ...before.slice(0, start).map(kept),
    ...changes(before.slice(start, before.length - same), after.slice(start, after.length - same)),
    ...before.slice(before.length - same).map(kept),
  ];
}

/** Keeps a longest common subsequence; removed lines come before added ones. */
function changes(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ type: "-", text });
  const added = (text: string): Line => ({ type: "+", text });
  if (before.length * after.length > PAIRS_MAX) return [...before.map(removed), ...after.map(added)];
  const common = commonLengths(before, after);
  const lines: Line[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length && right < after.length) {
    const [old = "", fresh = ""] = [before[left], after[right]];
    if (old === fresh) {
      lines.push({ type: " ", text: old });
      [left, right] = [left + 1, right + 1];
    } else if (common(left + 1, right) >= common(left, right + 1)) {
      lines.push(removed(old));
      left++;
    } else {
      lines.push(added(fresh));
      right++;
    }
  }
  return [...lines, ...before.slice(left).map(removed), ...after.slice(right).map(added)];
}

/** Length of the longest common subsequence of the lines from `left` and those from `right` on. */
function commonLengths(
  before: readonly string[],
  after: readonly string[],
): (left: number, right: number) => number {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (left: number, right: number): number => lengths[left * width + right] ?? 0;
  for (let left = before.length - 1; left >= 0; left--)
    for (let right = after.length - 1; right >= 0; right--)
      lengths[left * width + right] =
        before[left] === after[right]
          ? at(left + 1, right + 1) + 1
          : Math.max(at(left + 1, right), at(left, right + 1));
  return at;
}

interface Hunk {
  readonly before: number;
  readonly after: number;
  readonly lines: readonly Line[];
}

/** Changes with their context; changes whose contexts touch share a hunk. */
function hunksOf(lines: readonly Line[]): readonly Hunk[] {
  const shown = new Set<number>();
  for (const [at, { type }] of lines.entries())
    if (type !== " ") for (let near = at - CONTEXT; near <= at + CONTEXT; near++) shown.add(near);
  const hunks: { before: number; after: number; lines: Line[] }[] = [];
  let [before, after] = [1, 1];
  for (const [at, line] of lines.entries()) {
    if (shown.has(at)) {
      if (!shown.has(at - 1) || hunks.length === 0) hunks.push({ before, after, lines: [] });
      hunks.at(-1)?.lines.push(line);
    }
    if (line.type !== "+") before++;
    if (line.type !== "-") after++;
  }
  return hunks;
}

function hunkText({ before, after, lines }: Hunk): string {
  const old = lines.filter(({ type }) => type !== "+").length;
  const fresh = lines.filter(({ type }) => type !== "-").length;
  const header = `@@ -${rangeText(before, old)} +${rangeText(after, fresh)} @@\n`;
  return header + lines.map(({ type, text }) => `${type}${text}\n`).join("");
}

/** An empty range begins at the line before it. */
function rangeText(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${String(count === 0 ? start - 1 : start)},${String(count)}`;
}
