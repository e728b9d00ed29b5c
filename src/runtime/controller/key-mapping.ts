/** Maps changes of objects to the keys that they concern. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Cause } from "../../api/causes/cause.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import { keyOf } from "../queue/work-key.ts";
import { controllerOf, groupOf } from "../refs/owner-reference.ts";
import type { ControllerDefinition } from "./controller.ts";
import type { KnownKinds } from "./kinds.ts";

export type AddKey = (key: string, cause: Cause) => void;

/** Returns the functions that end the subscriptions. */
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
  const ofOwned = owns.map((owned) => {
    const ownerOf = ownerFinder(type);
    return kinds.cache(owned).subscribe((change) => {
      const { before, after } = change;
      const owner = after === undefined ? undefined : ownerOf(after);
      if (owner !== undefined) add(owner, causeOf(owned, change));
      // An owner that has lost an object must be reconciled too.
      if (before === undefined || before.metadata.ownerReferences === after?.metadata.ownerReferences) return;
      const lost = ownerOf(before);
      if (lost !== undefined && lost !== owner) add(lost, causeOf(owned, change));
    });
  });
  const ofWatched = watches.map((mapping) =>
    kinds.cache(mapping.type).subscribe((change) => {
      for (const key of mapping.keysOf(change, kinds.read)) add(keyOf(key), causeOf(mapping.type, change));
    }),
  );
  return [ofSelf, ...ofOwned, ...ofWatched];
}

/**
 * Finds the key of the `for` object that controls an object. Runs for every change; most objects have no such owner.
 */
function ownerFinder({
  kind,
  apiVersion,
  namespaced,
}: ResourceType): (object: ApiObject) => string | undefined {
  const group = groupOf(apiVersion);
  return (object) => {
    const controller = controllerOf(object);
    if (controller?.kind !== kind || groupOf(controller.apiVersion) !== group) return undefined;
    const namespace = namespaced ? object.metadata.namespace : undefined;
    return keyOf({ namespace, name: controller.name });
  };
}

function causeOf({ apiVersion, kind }: ResourceType, { before, after }: ObjectChange<ApiObject>): Cause {
  const { namespace = "", name = "", resourceVersion = "" } = (after ?? before)?.metadata ?? {};
  const cause = {
    type: "object",
    group: groupOf(apiVersion),
    kind,
    namespace,
    name,
    resourceVersion,
  } as const;
  return after === undefined ? { ...cause, isGone: true } : cause;
}
