/**
 * Questions about the lists of a rule. A list that is long gets an index when it is first asked about, which lives as long as the list; so a question
 * costs the same however many entries the rule has. Lists that are asked about are of stored roles, and never change.
 */
import { indexOfTrailing } from "../../../../base/text-end.ts";

export const ALL = "*";

/** From this length on an index is faster than a walk. */
const INDEXED_MIN = 16;

const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether the list has this very value. */
export function listHas(list: readonly string[], value: string): boolean {
  if (list.length < INDEXED_MIN) return list.includes(value);
  let values = valueSets.get(list);
  if (values === undefined) {
    values = new Set(list);
    valueSets.set(list, values);
  }
  return values.has(value);
}

export function listHasOrAll(list: readonly string[], value: string): boolean {
  return listHas(list, ALL) || listHas(list, value);
}

/** Whether a URL of the list stands for the path. */
export function someUrlCovers(urls: readonly string[], path: string): boolean {
  if (urls.length < INDEXED_MIN) return urls.some((url) => coversPath(url, path));
  return listHas(urls, path) || hasPrefixOf(prefixesOf(urls), path);
}

/** A star at the end stands for anything, even for nothing. */
export function coversPath(url: string, path: string): boolean {
  if (url === ALL || url === path) return true;
  return url.endsWith(ALL) && path.startsWith(prefixIn(url));
}

function prefixIn(url: string): string {
  return url.slice(0, indexOfTrailing(url, ALL));
}

const prefixLists = new WeakMap<readonly string[], readonly string[]>();

/** What the URLs with a star begin with: in order, and none the beginning of another. */
function prefixesOf(urls: readonly string[]): readonly string[] {
  const known = prefixLists.get(urls);
  if (known !== undefined) return known;
  const sorted = urls
    .filter((url) => url.endsWith(ALL))
    .map(prefixIn)
    .toSorted(byCodeUnit);
  const prefixes: string[] = [];
  // A prefix of an entry comes before it, and only entries with that prefix lie between.
  for (const prefix of sorted) {
    const last = prefixes.at(-1);
    if (last === undefined || !prefix.startsWith(last)) prefixes.push(prefix);
  }
  prefixLists.set(urls, prefixes);
  return prefixes;
}

/** The only candidate is the last prefix that is not behind the path: see `prefixesOf`. */
function hasPrefixOf(prefixes: readonly string[], path: string): boolean {
  let [low, high] = [0, prefixes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((prefixes[middle] ?? "") <= path) low = middle + 1;
    else high = middle;
  }
  const candidate = prefixes[low - 1];
  return candidate !== undefined && path.startsWith(candidate);
}

function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
