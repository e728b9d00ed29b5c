/** Recognizes creations that fail because their namespace is being deleted. They are no error, and a retry is useless. */
import { isApiError } from "../api/errors/api-error.ts";

export function isNamespaceTerminating(error: unknown): boolean {
  if (!isApiError(error, "Forbidden")) return false;
  return (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}

export async function createUnlessTerminating(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error;
  }
}
