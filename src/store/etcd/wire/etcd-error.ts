/** Translates errors of etcd and of the connection to it into the store's codes. */
import { status, type ServiceError } from "@grpc/grpc-js";
import { StoreError, type StoreErrorCode } from "../../store-error.ts";

/**
 * etcd's errors are recognized by their text, which is the same in all versions. In all these cases nothing was
 * written, except for `NoSpace`, where the caller has to check.
 */
const BY_TEXT: readonly (readonly [text: string, code: StoreErrorCode])[] = [
  ["required revision has been compacted", "Compacted"],
  ["required revision is a future revision", "FutureRevision"],
  ["database space exceeded", "NoSpace"],
  ["request is too large", "InvalidTransaction"],
  ["received message larger than max", "InvalidTransaction"],
  ["too many operations in txn request", "InvalidTransaction"],
  ["duplicate key given in txn request", "InvalidTransaction"],
  ["key is not provided", "InvalidTransaction"],
  ["too many requests", "Overloaded"],
  ["no leader", "Unavailable"],
];

/** Codes of a server that examined the request and refused it. */
const REFUSED: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
]);

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "details" in error;
}

/** etcd refuses the request, now and later. */
export function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause !== undefined && REFUSED.has(cause.code);
}

/** The connection broke or the request timed out: another endpoint may work. */
export function isConnectionFailure(error: ServiceError): boolean {
  return (
    error.code === status.UNAVAILABLE ||
    error.code === status.DEADLINE_EXCEEDED ||
    error.code === status.CANCELLED ||
    error.code === status.INTERNAL
  );
}

/** The request timed out. */
export function isTimeout(error: ServiceError): boolean {
  return error.code === status.DEADLINE_EXCEEDED;
}

/** The token is unknown (a restarted etcd forgets tokens), expired, or older than a change of users; or etcd now requires one. */
export function isTokenRefused({ details }: ServiceError): boolean {
  return (
    details.includes("invalid auth token") ||
    details.includes("revision of auth store is old") ||
    details.includes("user name is empty")
  );
}

/** Authentication is off in etcd, so no sign-in is possible or needed. */
export function isAuthDisabled({ details }: ServiceError): boolean {
  return details.includes("authentication is not enabled");
}

export function isPermissionDenied(error: unknown): boolean {
  return causeOf(error)?.code === status.PERMISSION_DENIED;
}

export function isLeaseNotFound(error: unknown): boolean {
  return causeOf(error)?.details.includes("requested lease not found") === true;
}

/**
 * Error of a request on an open connection: a write without a response may have been executed (`OutcomeUnknown`); a
 * read is `Unavailable`.
 */
export function toStoreError(error: ServiceError, kind: "read" | "write"): StoreError {
  const known = BY_TEXT.find(([text]) => error.details.includes(text));
  if (known !== undefined) return new StoreError(known[1], error.details, { cause: error });
  if (REFUSED.has(error.code)) {
    return new StoreError("Unavailable", `etcd refuses: ${error.details}`, { cause: error });
  }
  return new StoreError(
    kind === "write" ? "OutcomeUnknown" : "Unavailable",
    `no answer from etcd: ${error.details}`,
    { cause: error },
  );
}

/** Permanent: data that readers saw is no longer there. */
export function revisionWentBack(seen: number, found: number): StoreError {
  return new StoreError(
    "Damaged",
    `etcd's revision went back from ${String(seen)} to ${String(found)}: it lost data, or was restored or replaced. ` +
      "Start this server again to go on with what etcd has now",
  );
}

function causeOf(error: unknown): ServiceError | undefined {
  const cause = error instanceof StoreError ? error.cause : error;
  return isServiceError(cause) ? cause : undefined;
}
