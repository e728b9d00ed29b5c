import type { ApiObject } from "../../resources/kind-rules.ts";

/** The version that a write is meant for; empty when any will do, which clients also write as "0". */
export function versionAsked({ metadata }: Pick<ApiObject, "metadata">): string {
  const { resourceVersion = "" } = metadata;
  return resourceVersion === "0" ? "" : resourceVersion;
}
