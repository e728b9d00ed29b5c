/** Sets of a job's indexes in text form: `1,3-5,7`, in ascending order. */

export interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/** Throws a SyntaxError with upstream's text. */
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

/** The first index in both sets. */
export function findOverlap(
  left: readonly IndexInterval[],
  right: readonly IndexInterval[],
): number | undefined {
  let at = 0;
  for (const one of left) {
    while ((right[at]?.last ?? Infinity) < one.first) at++;
    const other = right[at];
    if (other === undefined) return undefined;
    if (other.first <= one.last) return Math.max(one.first, other.first);
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

/** Reads indexes of a stored status. Ignores indexes beyond the completions and parts that do not parse. */
export function readKnownIndexes(text: string, completions: number): readonly IndexInterval[] {
  const intervals: IndexInterval[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    const [first, last = first] = part.split("-").map(Number);
    if (first === undefined || last === undefined || !Number.isInteger(first + last)) continue;
    if (first < completions && last >= first)
      intervals.push({ first, last: Math.min(last, completions - 1) });
  }
  return joinIntervals(intervals);
}

export function withIndexes(
  intervals: readonly IndexInterval[],
  indexes: Iterable<number>,
): readonly IndexInterval[] {
  const added = Array.from(indexes, (index) => ({ first: index, last: index }));
  return added.length === 0 ? intervals : joinIntervals([...intervals, ...added]);
}

/** Sorts the intervals and joins touching ones. */
function joinIntervals(intervals: readonly IndexInterval[]): readonly IndexInterval[] {
  const joined: IndexInterval[] = [];
  for (const { first, last } of intervals.toSorted((left, right) => left.first - right.first)) {
    const before = joined.at(-1);
    if (before === undefined || first > before.last + 1) joined.push({ first, last });
    else joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, last) };
  }
  return joined;
}

export function hasIndex(intervals: readonly IndexInterval[], index: number): boolean {
  return intervals.some(({ first, last }) => first <= index && index <= last);
}

/** Number of indexes in both sets. */
export function countOverlap(left: readonly IndexInterval[], right: readonly IndexInterval[]): number {
  let count = 0;
  for (const one of left) {
    for (const { first, last } of right) {
      count += Math.max(0, Math.min(one.last, last) - Math.max(one.first, first) + 1);
    }
  }
  return count;
}

/** Formats as `1,3-5,7`; two neighbours are written as two numbers. */
export function formatIndexes(intervals: readonly IndexInterval[]): string {
  const text = ({ first, last }: IndexInterval): string => {
    if (first === last) return String(first);
    return `${String(first)}${last === first + 1 ? "," : "-"}${String(last)}`;
  };
  return intervals.map(text).join(",");
}

/** The smallest indexes in none of the intervals. */
export function firstMissing(
  intervals: readonly IndexInterval[],
  { count, completions }: { readonly count: number; readonly completions: number },
): readonly number[] {
  const found: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...intervals, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && found.length < count; candidate++) {
      found.push(candidate);
    }
    candidate = Math.max(candidate, last + 1);
  }
  return found;
}
