/**
 * Searches the lists of a rule. A long list gets an index on first use, so the cost of a search does not depend on
 * its length. The index lives as long as the list. Searched lists belong to stored roles and never change.
 */
import { indexOfTrailing } from "../../../../base/text-end.ts";

export const ALL = "*";

/** Length from which an index is faster than a scan. */
const INDEXED_MIN = 16;

const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** True if the list contains exactly this value. */
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

/** True if a URL of the list matches the path. */
export function someUrlCovers(urls: readonly string[], path: string): boolean {
  if (urls.length < INDEXED_MIN) return urls.some((url) => coversPath(url, path));
  return listHas(urls, path) || hasPrefixOf(prefixesOf(urls), path);
}

/** A trailing star matches any text, also the empty one. */
export function coversPath(url: string, path: string): boolean {
  if (url === ALL || url === path) return true;
  return url.endsWith(ALL) && path.startsWith(prefixIn(url));
}

function prefixIn(url: string): string {
  return url.slice(0, indexOfTrailing(url, ALL));
}

const prefixLists = new WeakMap<readonly string[], readonly string[]>();

/** Prefixes of the URLs with a trailing star: sorted, and none a prefix of another. */
function prefixesOf(urls: readonly string[]): readonly string[] {
  const known = prefixLists.get(urls);
  if (known !== undefined) return known;
  const sorted = urls
    .filter((url) => url.endsWith(ALL))
    .map(prefixIn)
    .toSorted(byCodeUnit);
  const prefixes: string[] = [];
  // Sorting puts a prefix directly before the entries that start with it.
  for (const prefix of sorted) {
    const last = prefixes.at(-1);
    if (last === undefined || !prefix.startsWith(last)) prefixes.push(prefix);
  }
  prefixLists.set(urls, prefixes);
  return prefixes;
}

/** Binary search: the only candidate is the last prefix that sorts before or equal to the path. */
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
