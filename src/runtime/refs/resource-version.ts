/**
 * Comparison of resource versions. Decimal numbers are ordered, as Kubernetes promises for its own storage. Others,
 * from some aggregated servers, can only be compared for equality.
 */

/** Without leading zeros, so that the longer number is the greater one. */
const NUMBER = /^(?:0|[1-9][0-9]*)$/;

export type VersionOrder = "older" | "same" | "newer" | "unknown";

/** Order of `left` relative to `right`. */
export function orderOfVersions(left: string, right: string): VersionOrder {
  if (left === right) return "same";
  if (!isNumber(left) || !isNumber(right)) return "unknown";
  if (left.length !== right.length) return left.length < right.length ? "older" : "newer";
  return left < right ? "older" : "newer";
}

export function isNumber(version: string): boolean {
  return NUMBER.test(version);
}
