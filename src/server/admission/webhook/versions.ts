/** Converts objects to the version that a webhook asks for, and back. */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { isStored } from "../../objects/registry.ts";
import type { AdmittedResource, StoredResource } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";

export interface Change {
  readonly from: AdmittedResource;
  readonly to: AdmittedResource;
}

/** Objects of subresource kinds (Scale, Eviction) are the same in all versions of the resource. */
export async function converted(
  object: ApiObject,
  { from, to }: Change,
  versions: Versions,
): Promise<ApiObject> {
  if (from.apiVersion === to.apiVersion || object.kind !== from.facts.kind) return object;
  if (!isStored(from) || from.custom === undefined || to.custom === undefined) {
    const change = { kind: from.facts.kind, from: from.apiVersion, to: to.apiVersion };
    return versions.between(object, change) as ApiObject;
  }
  return customConverted(object, { from, to }, versions);
}

async function customConverted(
  object: ApiObject,
  { from, to }: { readonly from: StoredResource; readonly to: AdmittedResource },
  versions: Versions,
): Promise<ApiObject> {
  // Conversions are cached by the identity of the object, and the draft still changes; hence the copy.
  const copy = { ...object };
  await versions.readyToStore(copy, from);
  const stored = versions.stored(copy, from);
  await to.custom?.webhook?.readyToShow([{ object: stored }]);
  return to.custom?.served(stored) ?? stored;
}
