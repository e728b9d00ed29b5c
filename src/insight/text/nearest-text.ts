/** The text that looks most like another one: what a mistyped name may have meant. */

/** Longer names are not compared. */
const LENGTH_MAX = 253;
/** Of three characters one may differ. */
const LIKENESS = 3;

export function nearestOf(wanted: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.floor(wanted.length / LIKENESS) + 1;
  for (const each of new Set(known)) {
    // A common beginning counts, as in the names of pods without their last part.
    const isPart = wanted.length > 1 && (each.startsWith(wanted) || wanted.startsWith(each));
    const distance = isPart ? 1 : distanceOf(wanted, each, least);
    if (distance < least) [nearest, least] = [each, distance];
  }
  return nearest;
}

/** Number of characters to add, remove, change or swap; `enough` if it is that or more. */
function distanceOf(one: string, other: string, enough: number): number {
  if (Math.abs(one.length - other.length) >= enough || one.length > LENGTH_MAX) return enough;
  let [older, before]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let at = 1; at <= other.length; at++) {
      const isEqual = one[row - 1] === other[at - 1];
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      current.push(
        Math.min(
          (before[at] ?? 0) + 1,
          (current[at - 1] ?? 0) + 1,
          (before[at - 1] ?? 0) + (isEqual ? 0 : 1),
          isSwapped ? (older[at - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [older, before] = [before, current];
  }
  return Math.min(enough, before[other.length] ?? enough);
}
