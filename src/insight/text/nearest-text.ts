/** The text that looks most like another one: what a mistyped name may have meant. */

/** Longer names are not compared. */
const LENGTH_MAX = 253;
/** One character in three may differ. */
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
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  const cell = (row: number, at: number): number => rows[row]?.[at] ?? Infinity;
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    rows.push(current);
    for (let at = 1; at <= other.length; at++) {
      const [here, there] = [one[row - 1], other[at - 1]];
      const isSwapped = here === other[at - 2] && there === one[row - 2];
      current[at] = Math.min(
        cell(row - 1, at) + 1,
        cell(row, at - 1) + 1,
        cell(row - 1, at - 1) + (here === there ? 0 : 1),
        isSwapped ? cell(row - 2, at - 2) + 1 : Infinity,
      );
    }
  }
  return Math.min(enough, cell(one.length, other.length));
}
