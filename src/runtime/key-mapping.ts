/** From changes of objects to the keys that they concern. */
import type { ApiObject, ResourceType } from "../api/api-object.ts";
import type { Cause } from "./cause.ts";
import type { ControllerDefinition, ObjectChange } from "./controller.ts";
import type { KnownKinds } from "./kinds.ts";
import { controllerOf, groupOf } from "./owner-reference.ts";
import { keyOf } from "./work-key.ts";

export type AddKey = (key: string, cause: Cause) => void;

/** The functions that come back end it. */
export function subscribeKeys(
  definition: ControllerDefinition<ApiObject>,
  kinds: KnownKinds,
  add: AddKey,
): readonly (() => void)[] {
  const { for: type, owns = [], watches = [], when } = definition;
  const ofSelf = kinds.cache(type).subscribe((change) => {
    if (when?.(change) === false) return;
    const metadata = (change.after ?? change.before)?.metadata ?? {};
    add(keyOf(metadata), causeOf(type, change));
  });
  const ofOwned = owns.map((owned) =>
    kinds.cache(owned).subscribe((change) => {
      for (const key of ownersOf(type, change)) add(key, causeOf(owned, change));
    }),
  );
  const ofWatched = watches.map((mapping) =>
    kinds.cache(mapping.type).subscribe((change) => {
      for (const key of mapping.keysOf(change, kinds.read)) add(keyOf(key), causeOf(mapping.type, change));
    }),
  );
  return [ofSelf, ...ofOwned, ...ofWatched];
}

/** The controlling owner of the kind, before and after: one that has lost an object has to know too. */
function ownersOf(type: ResourceType, { before, after }: ObjectChange<ApiObject>): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const object of [before, after]) {
    const controller = object === undefined ? undefined : controllerOf(object);
    if (controller?.kind !== type.kind || groupOf(controller.apiVersion) !== groupOf(type.apiVersion))
      continue;
    const namespace = type.namespaced ? object?.metadata.namespace : undefined;
    keys.add(keyOf({ namespace, name: controller.name }));
  }
  return keys;
}

function causeOf({ kind }: ResourceType, { before, after }: ObjectChange<ApiObject>): Cause {
  const { namespace = "", name = "", resourceVersion = "" } = (after ?? before)?.metadata ?? {};
  return { type: "object", kind, namespace, name, resourceVersion };
}
