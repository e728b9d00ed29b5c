import type { ApiObject } from "../../resources/rules/kind-rules.ts";

/** The version that a write is meant for; empty when any will do, which clients also write as "0". */
export function versionAsked({ metadata }: Pick<ApiObject, "metadata">): string {
  const { resourceVersion = "" } = metadata;
  return resourceVersion === "0" ? "" : resourceVersion;
}

/** Largest number that upstream reads as a resourceVersion. */
const VERSION_MAX = 2n ** 64n - 1n;

/** Whether upstream's store takes the text for a version; it ignores others, such as `-1`, on a new object. */
export function isVersion(text = ""): boolean {
  if (!/^\d{1,1000}$/.test(text)) return false;
  const version = BigInt(text);
  return version > 0n && version <= VERSION_MAX;
}
