/** Refuses new objects of a custom kind unless its definition exists and is not in deletion. */
import {
  ApiError,
  type GroupResource,
  methodNotSupported,
  unknownResource,
} from "../../api/errors/api-error.ts";
import type { Store } from "../../store/store.ts";
import type { StoredResource } from "../objects/registry.ts";
import { NOTHING_BESIDE } from "../write/companions/companion.ts";
import type { Companion, CompanionPlan } from "../write/companions/companion.ts";
import { DEFINITIONS } from "./custom-kinds.ts";
import { findOutline } from "./custom-outline.ts";

export function customCompanion(store: Store): Companion {
  return {
    kinds: "custom kinds",
    plan: ({ change, resource }) =>
      change.previous === undefined ? requireDefinition(resource, store) : NOTHING_BESIDE,
  };
}

function requireDefinition({ storage }: StoredResource, store: Store): CompanionPlan {
  const [group = "", plural = ""] = storage.prefix.split("/");
  const key = `${DEFINITIONS}${plural}.${group}`;
  const entry = store.accepted.get(key);
  const outline = entry === undefined ? undefined : findOutline(entry);
  if (entry === undefined || outline === undefined) throw unknownResource();
  if (outline.isDeleted) throw terminating({ group, resource: plural });
  return { object: undefined, compare: [{ key, modRevision: entry.modRevision }], changes: [] };
}

function terminating(resource: GroupResource): ApiError {
  const { details } = methodNotSupported(resource, "create");
  const message = "create not allowed while custom resource definition is terminating";
  return new ApiError("MethodNotAllowed", message, details === undefined ? {} : { details });
}
