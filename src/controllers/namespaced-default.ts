/** Helps controllers that keep a default object in every active namespace. */
import type { ApiObject, ResourceType } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import type { Namespace } from "../api/generated/types/core-v1.ts";
import { watching } from "../runtime/controller/controller.ts";
import type { WatchMapping } from "../runtime/controller/controller.ts";
import { isNamespaceTerminating } from "./terminating-namespace.ts";

export function isActive({ metadata, status }: Namespace): boolean {
  return metadata.deletionTimestamp === undefined && status.phase !== "Terminating";
}

/** Maps changes of the object with this name to its namespace. */
export function namespaceOf<T extends ApiObject>(type: ResourceType<T>, name: string): WatchMapping {
  return watching(type, ({ before, after }) => {
    const { metadata } = after ?? before ?? {};
    const { namespace } = metadata ?? {};
    return metadata?.name === name && namespace !== undefined ? [{ name: namespace }] : [];
  });
}

/** Ignores errors when another client created the object first, or when the namespace is being deleted. */
export async function createUnlessPresent(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    const isFine =
      isApiError(error, "AlreadyExists") || isApiError(error, "NotFound") || isNamespaceTerminating(error);
    if (!isFine) throw error;
  }
}
