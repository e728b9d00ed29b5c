/** What etcd and the connection to it say when something fails, in the store's own codes. */
import { status, type ServiceError } from "@grpc/grpc-js";
import { StoreError, type StoreErrorCode } from "../../store-error.ts";

/** etcd's errors are known by their text; the same in all versions. In each of these cases nothing was written, but for `NoSpace`: there one has to look. */
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

/** Answers of a server that looked at the request and refused it. */
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

/** etcd looked at the request and will not do it, now or later. */
export function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause !== undefined && REFUSED.has(cause.code);
}

/** The connection broke, or nobody answered in time: another endpoint may do better. */
export function isConnectionFailure(error: ServiceError): boolean {
  return (
    error.code === status.UNAVAILABLE ||
    error.code === status.DEADLINE_EXCEEDED ||
    error.code === status.CANCELLED ||
    error.code === status.INTERNAL
  );
}

/** Nobody answered in time. */
export function isSilence(error: ServiceError): boolean {
  return error.code === status.DEADLINE_EXCEEDED;
}

/** The token is unknown (a restarted etcd forgets them), too old, or of before a change to the users; or there is none, and now one is asked for. */
export function isTokenRefused({ details }: ServiceError): boolean {
  return (
    details.includes("invalid auth token") ||
    details.includes("revision of auth store is old") ||
    details.includes("user name is empty")
  );
}

/** Nobody can sign in, and nobody has to. */
export function isWithoutUsers({ details }: ServiceError): boolean {
  return details.includes("authentication is not enabled");
}

export function isPermissionDenied(error: unknown): boolean {
  return causeOf(error)?.code === status.PERMISSION_DENIED;
}

export function isLeaseGone(error: unknown): boolean {
  return causeOf(error)?.details.includes("requested lease not found") === true;
}

/**
 * For a request that was handed to an open connection: a write that got no answer may have happened
 * (`OutcomeUnknown`), a read is merely `Unavailable`.
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

/** Never to be healed by waiting: what was shown to readers is no longer so. */
export function wentBack(seen: number, found: number): StoreError {
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
