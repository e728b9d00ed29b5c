import { isApiError } from "../../api/errors/api-error.ts";
import { Namespace } from "../../api/generated/types/core-v1.ts";
import type { VerbSession } from "./verb-session.ts";

/** Reads a named object. When the namespace is missing as well, the error names the namespace, as kubectl's does. */
export async function readNamed<T>(
  { client }: Pick<VerbSession, "client">,
  namespace: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isApiError(error, "NotFound") || namespace === "") throw error;
    throw await client(Namespace)
      .get({ name: namespace })
      .then(
        () => error,
        (other: unknown) => (isApiError(other, "NotFound") ? other : error),
      );
  }
}
