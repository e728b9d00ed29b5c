/** Removes repeated owner references and warns the client. */
import { stringifyJson } from "../../api/json/json-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";

interface Owned {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/** Owner references are repeated only if all members are equal. Others may differ in meaning. */
export function withoutRepeatedOwners(
  object: ApiObject,
  { isPatched }: { readonly isPatched: boolean },
): Owned {
  const owners = object.metadata?.ownerReferences;
  if (owners === undefined || owners.length < 2) return { object, warnings: [] };
  const seen = new Set<string>();
  const repeated: string[] = [];
  const ownerReferences = owners.filter((owner) => {
    // In normal form, equal owner references have equal texts.
    const text = stringifyJson(owner);
    if (!seen.has(text)) return seen.add(text);
    repeated.push(owner.uid);
    return false;
  });
  if (repeated.length === 0) return { object, warnings: [] };
  // Upstream checks the result of a patch later than a sent object, and its warning says so.
  const when = isPatched ? " after mutating admission happens" : "";
  const warning =
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, ` +
    `and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`;
  return { object: { ...object, metadata: { ...object.metadata, ownerReferences } }, warnings: [warning] };
}
