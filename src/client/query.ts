/** Turns options of calls into query parameters. */
import type { GetOptions, ListOptions, LogOptions, WatchOptions, WriteOptions } from "./client.ts";

export type Query = Readonly<Record<string, string>>;

/** Omits undefined parameters. */
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
  // `limit` without `resourceVersionMatch` means Exact. A continue token fixes the revision, so the match is rejected
  // beside it.
  const isFirstPage = limit !== undefined && resourceVersion !== undefined && token === undefined;
  return {
    ...(isFirstPage && { resourceVersionMatch: "NotOlderThan" }),
    ...readQuery(options),
    ...queryOf({ labelSelector, fieldSelector, limit, continue: token }),
  };
}

export function watchQuery(options: WatchOptions): Query {
  const { allowBookmarks, sendInitialEvents, timeoutSeconds } = options;
  // The server requires the match together with `sendInitialEvents`.
  const match = sendInitialEvents === undefined ? {} : { resourceVersionMatch: "NotOlderThan" };
  return {
    ...match,
    ...listQuery(options),
    ...queryOf({ watch: true, allowWatchBookmarks: allowBookmarks, sendInitialEvents, timeoutSeconds }),
  };
}

/** Query of every write. `manager` is used unless the options name a field manager. */
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
