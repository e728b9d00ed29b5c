import type { ApiObject } from "../../resources/rules/kind-rules.ts";

/** The resourceVersion that a write requires. Empty means any version; clients also send "0" for that. */
export function versionAsked({ metadata }: Pick<ApiObject, "metadata">): string {
  const { resourceVersion = "" } = metadata;
  return resourceVersion === "0" ? "" : resourceVersion;
}

/** Largest number that upstream reads as a resourceVersion. */
const VERSION_MAX = 2n ** 64n - 1n;

/** Whether upstream's store parses the text as a version. On a new object it ignores other texts, for example `-1`. */
export function isVersion(text = ""): boolean {
  if (!/^\d{1,1000}$/.test(text)) return false;
  const version = BigInt(text);
  return version > 0n && version <= VERSION_MAX;
}
