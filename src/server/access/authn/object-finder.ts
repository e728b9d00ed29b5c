/** Looks up the objects that decide whether a token is still valid, in their current state. */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Store } from "../../../store/store.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Registry } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf } from "../../objects/versions.ts";

/** Finds objects of the core group. Object names contain no slash, so a name with one finds nothing. */
export type ObjectFinder = (resource: string, namespace: string, name: string) => ApiObject | undefined;

export function objectFinder(store: Store, registry: Registry): ObjectFinder {
  return (resource, namespace, name) => {
    if (name === "" || name.includes("/") || namespace.includes("/")) return undefined;
    const stored = requireStored(registry, "", resource);
    if (stored.facts.namespaced && namespace === "") return undefined;
    const entry = store.view.get(keyOf(stored, namespace, name));
    return entry === undefined ? undefined : StoredObject.of(entry).object;
  };
}
