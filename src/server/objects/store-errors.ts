/** Translates errors of the store, and of requests that are too large, into API errors. */
import {
  StorageError,
  conflict,
  expired,
  internalError,
  requestEntityTooLarge,
  timeout,
  tooManyRequests,
  temporarilyUnavailable,
} from "../../api/errors/api-error.ts";
import type { ApiError, GroupResource } from "../../api/errors/api-error.ts";
import { TooLargeError } from "../../api/work-budget.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { StoreError, StoreErrorCode } from "../../store/store-error.ts";

type Translation = (
  error: StoreError,
  about: { readonly resource: GroupResource; readonly name: string },
) => ApiError;

const unavailable: Translation = (error) => temporarilyUnavailable(error.message, { cause: error });

/** etcd's text for an exceeded quota, which clients and runbooks know; the health checks name the bound. */
const NO_SPACE = "etcdserver: mvcc: database space exceeded";

const TRANSLATIONS: Readonly<Record<StoreErrorCode, Translation>> = {
  ConditionFailed: (_, { resource, name }) => conflict(resource, name),
  Compacted: () => expired("The resourceVersion for the provided watch is too old."),
  FutureRevision: () => timeout("the resourceVersion has not been reached yet", 1),
  Overloaded: () => tooManyRequests("the server has too many writes to do, please try again later", 1),
  NoSpace: (error) => new StorageError(NO_SPACE, { cause: error }),
  OutcomeUnknown: unavailable,
  Unavailable: unavailable,
  Closed: unavailable,
  InvalidTransaction: internalError,
  SlowWatcher: internalError,
  Damaged: internalError,
  Locked: internalError,
};

/** The API error for a store error; other errors pass unchanged. */
export function toApiError(error: unknown, resource: GroupResource, name: string): unknown {
  if (error instanceof TooLargeError) return requestEntityTooLarge(error.message);
  return isStoreError(error) ? TRANSLATIONS[error.code](error, { resource, name }) : error;
}
