/** Refuses new objects of a custom kind unless its definition exists and is not in deletion. */
import {
  ApiError,
  type GroupResource,
  methodNotSupported,
  unknownResource,
} from "../../api/errors/api-error.ts";
import type { Store } from "../../store/store.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Companion, Companions } from "../write/companions/companion.ts";
import { DEFINITIONS } from "./custom-kinds.ts";
import { findOutline } from "./custom-outline.ts";

/** Adds the companion of custom resources to those of built-in resources. */
export function withCustomCompanions(others: Companions, store: Store): Companions {
  return {
    of: (resource) =>
      resource.custom === undefined ? others.of(resource) : customCompanion(resource, store),
  };
}

function customCompanion({ facts }: StoredResource, store: Store): Companion {
  const { group, name: plural } = facts;
  return guard(`${DEFINITIONS}${plural}.${group}`, store, { group, resource: plural });
}

function guard(key: string, store: Store, resource: GroupResource): Companion {
  return ({ previous }) => {
    if (previous !== undefined) return { object: undefined, compare: [], changes: [] };
    const entry = store.accepted.get(key);
    const outline = entry === undefined ? undefined : findOutline(entry);
    if (entry === undefined || outline === undefined) throw unknownResource();
    if (outline.isDeleted) throw terminating(resource);
    return { object: undefined, compare: [{ key, modRevision: entry.modRevision }], changes: [] };
  };
}

function terminating(resource: GroupResource): ApiError {
  const { details } = methodNotSupported(resource, "create");
  const message = "create not allowed while custom resource definition is terminating";
  return new ApiError("MethodNotAllowed", message, details === undefined ? {} : { details });
}
