/**
 * Resource versions as clients may compare them: those that are decimal numbers have an order, as Kubernetes promises for what it
 * stores itself; all others (some aggregated servers) are only equal or not.
 */

/** Without leading zeros, so that the longer one is the greater. */
const NUMBER = /^(?:0|[1-9][0-9]*)$/;

export type VersionOrder = "older" | "same" | "newer" | "unknown";

/** How `left` stands to `right`. */
export function orderOfVersions(left: string, right: string): VersionOrder {
  if (left === right) return "same";
  if (!isNumber(left) || !isNumber(right)) return "unknown";
  if (left.length !== right.length) return left.length < right.length ? "older" : "newer";
  return left < right ? "older" : "newer";
}

export function isNumber(version: string): boolean {
  return NUMBER.test(version);
}
