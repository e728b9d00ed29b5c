/** Options of calls as query parameters. */
import type { GetOptions, ListOptions, LogOptions, WatchOptions, WriteOptions } from "./client.ts";

export type Query = Readonly<Record<string, string>>;

/** What is undefined is left out. */
function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): Query {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query[name] = String(value);
  }
  return query;
}

export function readQuery({ resourceVersion, resourceVersionMatch }: GetOptions): Query {
  return queryOf({ resourceVersion, resourceVersionMatch });
}

export function listQuery(options: ListOptions): Query {
  const { labelSelector, fieldSelector, limit, continue: token, resourceVersion } = options;
  // Without a word of it, a limit asks for that very revision. Of a token, which stands for one, no word is allowed.
  const isFirstPage = limit !== undefined && resourceVersion !== undefined && token === undefined;
  return {
    ...(isFirstPage && { resourceVersionMatch: "NotOlderThan" }),
    ...readQuery(options),
    ...queryOf({ labelSelector, fieldSelector, limit, continue: token }),
  };
}

export function watchQuery(options: WatchOptions): Query {
  const { allowBookmarks, sendInitialEvents, timeoutSeconds } = options;
  // The server insists on being told so.
  const match = sendInitialEvents === undefined ? {} : { resourceVersionMatch: "NotOlderThan" };
  return {
    ...match,
    ...listQuery(options),
    ...queryOf({ watch: true, allowWatchBookmarks: allowBookmarks, sendInitialEvents, timeoutSeconds }),
  };
}

/** Every write comes by here. In the name of `manager` unless the options have another. */
export function writeQuery(
  { dryRun, fieldManager, fieldValidation }: WriteOptions,
  manager?: string,
): Record<string, string> {
  const query: Record<string, string> = {};
  const owner = fieldManager ?? manager;
  if (dryRun !== undefined) query["dryRun"] = dryRun;
  if (owner !== undefined) query["fieldManager"] = owner;
  if (fieldValidation !== undefined) query["fieldValidation"] = fieldValidation;
  return query;
}

export function logQuery(options: LogOptions): Query {
  const { container, follow, previous, timestamps, tailLines, sinceSeconds, limitBytes } = options;
  return queryOf({ container, follow, previous, timestamps, tailLines, sinceSeconds, limitBytes });
}
