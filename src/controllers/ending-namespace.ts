/** What can no longer be made because its namespace is going: nothing is wrong with that, and nothing comes of trying again. */
import { isApiError } from "../api/errors/api-error.ts";

export function isNamespaceEnding(error: unknown): boolean {
  if (!isApiError(error, "Forbidden")) return false;
  return (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}

export async function createUnlessEnding(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isNamespaceEnding(error)) throw error;
  }
}
