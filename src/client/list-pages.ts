/** Long lists, read piece by piece. */
import { ApiError, isApiError } from "../api/errors/api-error.ts";
import type { ListOptions, ObjectList } from "./client.ts";

/** As upstream's clients: small enough that nobody waits long, large enough that few requests are needed. */
const PAGE_ITEMS = 500;

/** A server that cannot keep a token for the time of one page is not read to the end by trying more often. */
const RESTARTS_MAX = 10;

/**
 * All pages are of one revision, which each of them names. When the server has forgotten it, reading goes on where it was, at the newest
 * revision, if the server offers that; else from the start. Either way a page with another revision says so.
 */
export async function* listPages<T>(
  options: ListOptions,
  read: (options: ListOptions) => Promise<ObjectList<T>>,
): AsyncGenerator<ObjectList<T>> {
  const first: ListOptions = { ...options, limit: options.limit ?? PAGE_ITEMS };
  let next: ListOptions | undefined = first;
  let restarts = 0;
  while (next !== undefined) {
    const page: ObjectList<T> | ApiError = await readPage(next, read);
    if (!(page instanceof ApiError)) {
      yield page;
      next = continued(first, page.metadata.continue);
      continue;
    }
    if (++restarts > RESTARTS_MAX) throw page;
    next = continued(first, page.continueToken) ?? restarted(first);
  }
}

/** The error of a token that is no longer good is an answer like another. */
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

/** The token stands for revision and place; the server refuses to be told them twice. */
function continued(first: ListOptions, token: string | undefined): ListOptions | undefined {
  if (token === undefined || token === "") return undefined;
  const { resourceVersion: _, resourceVersionMatch: __, ...options } = first;
  return { ...options, continue: token };
}

function restarted(first: ListOptions): ListOptions {
  const { continue: _, ...options } = first;
  return options;
}
