/** Media types and bodies of patches. */
import type { Patch } from "./client.ts";

const MEDIA_TYPES: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

export function patchMediaType({ type }: Patch): string {
  return MEDIA_TYPES[type];
}

export function patchBody(patch: Patch): unknown {
  return patch.type === "json" ? patch.operations : patch.changes;
}
