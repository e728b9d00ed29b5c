/** Keeps at most one PriorityClass as the default of the cluster; a second one is refused. */
import { forbidden } from "../../../api/errors/api-error.ts";
import type { PriorityClass } from "../../../api/generated/types/scheduling-v1.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store, View } from "../../../store/store.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { NOTHING_BESIDE } from "./companion.ts";
import type { Companion, ObjectChange } from "./companion.ts";

const PREFIX = "/registry/priorityclasses/";
const RESOURCE = { group: "scheduling.k8s.io", resource: "priorityclasses" };

export function defaultPriorityClassCompanion(store: Store): Companion {
  return {
    kinds: { prefix: "priorityclasses" },
    plan: ({ change }) => {
      const { next } = change as ObjectChange<PriorityClass>;
      const holder = next?.globalDefault === true ? findDefault(store.accepted) : undefined;
      if (next !== undefined && holder !== undefined && holder !== next.metadata.name) {
        const why = `PriorityClass ${holder} is already marked as default. Only one default can exist`;
        throw forbidden(RESOURCE, next.metadata.name, why);
      }
      return NOTHING_BESIDE;
    },
  };
}

/** Two servers may each accept a default at the same moment. The one with the lower value counts then. */
function findDefault(view: View): string | undefined {
  let lowest: PriorityClass | undefined;
  for (const entry of view.range(PREFIX, prefixEnd(PREFIX))) {
    const object = StoredObject.of(entry).object as PriorityClass;
    if (object.globalDefault === true && (lowest === undefined || object.value < lowest.value))
      lowest = object;
  }
  return lowest?.metadata.name;
}
