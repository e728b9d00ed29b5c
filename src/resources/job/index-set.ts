/** Sets of a job's indexes in text form: `1,3-5,7`, growing from left to right. */

export interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/** Throws a SyntaxError that says what is wrong, in upstream's words. */
export function parseIndexes(text: string, completions: number): readonly IndexInterval[] {
  const intervals: IndexInterval[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    const interval = parseInterval(part, completions);
    const previous = intervals.at(-1);
    if (previous !== undefined && previous.last >= interval.first) {
      const order = `previous: ${previous.last}, current: ${interval.first}`;
      throw new SyntaxError(`non-increasing order, ${order}`);
    }
    intervals.push(interval);
  }
  return intervals;
}

export function countIndexes(intervals: readonly IndexInterval[]): number {
  let count = 0;
  for (const { first, last } of intervals) count += last - first + 1;
  return count;
}

/** The first index that is in both. */
export function findOverlap(
  left: readonly IndexInterval[],
  right: readonly IndexInterval[],
): number | undefined {
  for (const one of left) {
    const other = right.find(({ first, last }) => one.first <= last && first <= one.last);
    if (other !== undefined) return Math.max(one.first, other.first);
  }
  return undefined;
}

function parseInterval(text: string, completions: number): IndexInterval {
  const limits = text.split("-");
  if (limits.length > 2) {
    const problem =
      "violates the requirement that an index interval can have at most two parts separated by '-'";
    throw new SyntaxError(`the fragment ${JSON.stringify(text)} ${problem}`);
  }
  const [first = 0, last = first] = limits.map(parseIndex);
  if (first >= completions) {
    throw new SyntaxError(`too large index: ${JSON.stringify(limits[0])}`);
  }
  if (limits.length === 1) return { first, last: first };
  if (last >= completions) throw new SyntaxError(`too large index: ${JSON.stringify(limits[1])}`);
  if (first >= last) {
    throw new SyntaxError(`non-increasing order, previous: ${first}, current: ${last}`);
  }
  return { first, last };
}

function parseIndex(text: string): number {
  if (/^[+-]?[0-9]{1,15}$/.test(text)) return Number(text);
  throw new SyntaxError(`cannot convert string to integer for index: ${JSON.stringify(text)}`);
}
