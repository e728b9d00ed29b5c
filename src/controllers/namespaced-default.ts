/** Objects that every namespace has for as long as it is not being deleted. */
import type { ApiObject, ResourceType } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import type { Namespace } from "../api/generated/types/core-v1.ts";
import { watching } from "../runtime/controller/controller.ts";
import type { WatchMapping } from "../runtime/controller/controller.ts";
import { isNamespaceEnding } from "./ending-namespace.ts";

export function isActive({ metadata, status }: Namespace): boolean {
  return metadata.deletionTimestamp === undefined && status.phase !== "Terminating";
}

/** The object of this name concerns its namespace. */
export function namespaceOf<T extends ApiObject>(type: ResourceType<T>, name: string): WatchMapping {
  return watching(type, ({ before, after }) => {
    const { metadata } = after ?? before ?? {};
    const { namespace } = metadata ?? {};
    return metadata?.name === name && namespace !== undefined ? [{ name: namespace }] : [];
  });
}

/** Somebody else was faster, or the namespace has begun to go meanwhile: both are fine. */
export async function createUnlessPresent(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    const isFine =
      isApiError(error, "AlreadyExists") || isApiError(error, "NotFound") || isNamespaceEnding(error);
    if (!isFine) throw error;
  }
}
