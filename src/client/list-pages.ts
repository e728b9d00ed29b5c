/** Reads long lists in pages. */
import { ApiError, isApiError } from "../api/errors/api-error.ts";
import type { ListOptions, ObjectList } from "./client.ts";

/** Equal to client-go's page size: small enough for short responses, large enough for few requests. */
const PAGE_ITEMS = 500;

/** Upper bound of restarts, and of expired tokens in a row: a server that cannot keep a token for one page will not do so later. */
const FAILURES_MAX = 10;

/**
 * Yields pages of one revision, which each page names. When a token expires, the server may
 * offer one for the newest revision; reading then continues there, else it starts over. The later pages name the new
 * revision.
 */
export async function* listPages<T>(
  options: ListOptions,
  read: (options: ListOptions) => Promise<ObjectList<T>>,
): AsyncGenerator<ObjectList<T>> {
  const first: ListOptions = { ...options, limit: options.limit ?? PAGE_ITEMS };
  let next: ListOptions | undefined = first;
  let restarts = 0;
  let expiries = 0;
  while (next !== undefined) {
    const page: ObjectList<T> | ApiError = await readPage(next, read);
    if (!(page instanceof ApiError)) {
      expiries = 0;
      yield page;
      next = continued(first, page.metadata.continue);
      continue;
    }
    next = continued(first, page.continueToken);
    if (next === undefined) restarts += 1;
    else expiries += 1;
    if (Math.max(restarts, expiries) > FAILURES_MAX) throw page;
    next ??= restarted(first);
  }
}

/** Returns the error of an expired token instead of throwing it. */
async function readPage<T>(
  options: ListOptions,
  read: (options: ListOptions) => Promise<ObjectList<T>>,
): Promise<ObjectList<T> | ApiError> {
  try {
    return await read(options);
  } catch (error) {
    const isStale = isApiError(error, "Expired") || isApiError(error, "Gone");
    if (isStale && options.continue !== undefined) return error;
    throw error;
  }
}

/** The token fixes the revision; the server rejects a resourceVersion beside it. */
function continued(first: ListOptions, token: string | undefined): ListOptions | undefined {
  if (token === undefined || token === "") return undefined;
  const { resourceVersion: _, resourceVersionMatch: __, ...options } = first;
  return { ...options, continue: token };
}

function restarted(first: ListOptions): ListOptions {
  const { continue: _, ...options } = first;
  return options;
}
