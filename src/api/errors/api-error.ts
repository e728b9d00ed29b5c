/**
 * All errors that the API returns to clients: one error class with a closed set of reasons, factories, and their Status
 * object. Messages equal upstream's, because clients match them. Test with `isApiError(error, "Conflict")`, never by
 * message or status code.
 */

import { errorText } from "../../base/error-text.ts";
import { quoted } from "../values/message-text.ts";
import type { FieldError } from "./field-error.ts";
import { fieldErrorsText } from "./field-error.ts";

/** Each reason has one HTTP status code. */
const CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  StorageReadError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

/** Reasons of the API's errors, as in `reason` of a Status. */
export type ApiErrorReason = keyof typeof CODES;

/** One of several causes of an error, for example one invalid field. */
export interface StatusCause {
  /** Machine-readable type of the cause: `FieldValueRequired`. */
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field that caused the error: `spec.containers[0].name`. */
  readonly field?: string;
}

/** The object that an error is about, and when to retry. */
export interface StatusDetails {
  readonly name?: string;
  /** API group; absent for the core group. */
  readonly group?: string;
  /** The kind, or the resource name if the error is about a request path. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  /** Seconds to wait before a retry. Absent if a retry is not expected to help. */
  readonly retryAfterSeconds?: number;
}

/** Body of an error response, and of some successful ones such as DELETE. */
export type Status = {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  /** `continue` resumes an expired list at the newest revision. */
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: ApiErrorReason;
  readonly details?: StatusDetails;
  /** HTTP status code. Absent for a successful delete (200), as upstream omits it there. */
  readonly code?: number;
};

/** Optional parts of an ApiError. */
export interface ApiErrorOptions extends ErrorOptions {
  readonly details?: StatusDetails;
  /** Continue token that resumes an expired list at the newest revision. */
  readonly continueToken?: string;
}

/**
 * An error of the API, with a Kubernetes reason. The client throws it for an error response; the server sends it as a
 * Status. Test for it with `isApiError(error, "Conflict")`.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly reason: ApiErrorReason;
  readonly details: StatusDetails | undefined;
  readonly continueToken: string | undefined;

  constructor(reason: ApiErrorReason, message: string, options: ApiErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.details = options.details;
    this.continueToken = options.continueToken;
  }

  /** HTTP status code of the reason. */
  get code(): number {
    return CODES[this.reason];
  }
}

export interface DenialOptions extends ApiErrorOptions {
  readonly code: number;
  /** Reason in the Status; may lie outside the closed set. Absent: the Status has no reason. */
  readonly servedReason?: string;
}

/**
 * A refusal by an admission webhook, or another error with a status code and reason of its own. Clients get both
 * unchanged. `reason` is always `Forbidden`, so that the server does not mistake it for an error of its own.
 */
export class DeniedError extends ApiError {
  readonly servedReason: string | undefined;
  readonly #code: number;

  constructor(message: string, { code, servedReason, ...options }: DenialOptions) {
    super("Forbidden", message, options);
    this.#code = code;
    this.servedReason = servedReason;
  }

  override get code(): number {
    return this.#code;
  }
}

/**
 * A storage failure whose message clients see unchanged. The Status has code 500 and no reason, as upstream's for
 * errors that are not API errors.
 */
export class StorageError extends ApiError {
  constructor(message: string, options: ApiErrorOptions = {}) {
    super("InternalError", message, options);
  }
}

/** True if `error` is an ApiError, and has this reason if one is given. Example: `isApiError(error, "NotFound")`. */
export function isApiError(error: unknown, reason?: ApiErrorReason): error is ApiError {
  return error instanceof ApiError && (reason === undefined || error.reason === reason);
}

/** Undefined for any value outside the closed set, for example a reason from a newer server. */
export function findReason(text: unknown): ApiErrorReason | undefined {
  return typeof text === "string" && Object.hasOwn(CODES, text) ? (text as ApiErrorReason) : undefined;
}

/**
 * The Status object of an error. An error that is not an ApiError becomes an internal error. Members are in the order
 * Go writes them.
 */
export function toStatus(error: unknown): Status {
  if (!isApiError(error)) return toStatus(internalError(error));
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: error.continueToken === undefined ? {} : { continue: error.continueToken },
    status: "Failure",
    message: error.message,
    ...servedReasonOf(error),
    ...(error.details === undefined ? {} : { details: orderedDetails(error.details) }),
    code: error.code,
  };
}

function servedReasonOf(error: ApiError): Pick<Status, "reason"> {
  if (error instanceof StorageError) return {};
  if (!(error instanceof DeniedError)) return { reason: error.reason };
  return error.servedReason === undefined ? {} : { reason: error.servedReason as ApiErrorReason };
}

/** Upstream's store returns a plain error here; clients get it as code 500 without a reason. */
export function versionOnCreate(): ApiError {
  return new DeniedError("resourceVersion should not be set on objects to be created", { code: 500 });
}

/** Printed as `pods`, or `deployments.apps` outside the core group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export function notFound(resource: GroupResource, name: string): ApiError {
  const message = `${resourceText(resource)} ${quoted(name)} not found`;
  return new ApiError("NotFound", message, { details: about(resource, name) });
}

/** The path or the resource does not exist. `notFound` is the error for a missing object. */
export function unknownResource(): ApiError {
  return new ApiError("NotFound", "the server could not find the requested resource", { details: {} });
}

export function alreadyExists(
  resource: GroupResource,
  name: string,
  state: "kept" | "being deleted" = "kept",
): ApiError {
  const message = `${resourceText(resource)} ${quoted(name)} already exists`;
  const whole = state === "kept" ? message : `object is being deleted: ${message}`;
  return new ApiError("AlreadyExists", whole, { details: about(resource, name) });
}

/** Every generated name is taken. The client may retry: the server then generates another name. */
export function generateNameConflict(taken: ApiError): ApiError {
  const message = `${taken.message}, the server was not able to generate a unique name for the object`;
  return new ApiError("AlreadyExists", message, { details: { ...taken.details, retryAfterSeconds: 1 } });
}

const OBJECT_MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(resource: GroupResource, name: string, why: string = OBJECT_MODIFIED): ApiError {
  const message = `Operation cannot be fulfilled on ${resourceText(resource)} ${quoted(name)}: ${why}`;
  return new ApiError("Conflict", message, { details: about(resource, name) });
}

/** Another manager owns some of the applied fields. `causes` has one entry for each field. */
export function applyConflict(message: string, causes: readonly StatusCause[]): ApiError {
  return new ApiError("Conflict", message, { details: { causes } });
}

export function forbidden(resource: GroupResource, name: string, why: string): ApiError {
  const text = resourceText(resource);
  const subject = text === "" ? "" : name === "" ? `${text} is ` : `${text} ${quoted(name)} is `;
  return new ApiError("Forbidden", `${subject}forbidden: ${why}`, { details: about(resource, name) });
}

export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): ApiError {
  const subject = `${kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`} ${quoted(name)} is invalid`;
  const causes = errors.map(({ type, field, body }) => ({ reason: type, message: body, field }));
  return new ApiError("Invalid", errors.length === 0 ? subject : `${subject}: ${fieldErrorsText(errors)}`, {
    details: { name, group: kind.group, kind: kind.kind, causes },
  });
}

export function badRequest(message: string, options: ErrorOptions = {}): ApiError {
  return new ApiError("BadRequest", message, options);
}

export function unauthorized(message = "Unauthorized"): ApiError {
  return new ApiError("Unauthorized", message);
}

/** No resource supports the HTTP method on this path. */
export function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError("MethodNotAllowed", message, { details: {} });
}

/** The resource exists but does not support the action. */
export function methodNotSupported(resource: GroupResource, action: string): ApiError {
  const message = `${action} is not supported on resources of kind ${quoted(resourceText(resource))}`;
  return new ApiError("MethodNotAllowed", message, { details: about(resource, "") });
}

export function notAcceptable(mediaTypes: readonly string[]): ApiError {
  const message = `only the following media types are accepted: ${mediaTypes.join(", ")}`;
  return new ApiError("NotAcceptable", message);
}

export function unsupportedMediaType(mediaTypes: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(", ")}`;
  return new ApiError("UnsupportedMediaType", message);
}

export function requestEntityTooLarge(why: string): ApiError {
  return new ApiError("RequestEntityTooLarge", `Request entity too large: ${why}`);
}

/** The requested revision is compacted. `continueToken` resumes the list from the same key at the newest revision. */
export function expired(message: string, continueToken?: string): ApiError {
  return new ApiError("Expired", message, continueToken === undefined ? {} : { continueToken });
}

export function gone(message: string): ApiError {
  return new ApiError("Gone", message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError("TooManyRequests", message, { details: { retryAfterSeconds } });
}

/** The deadline passed, but the request may still complete. */
export function timeout(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError("Timeout", `Timeout: ${message}`, { details: { retryAfterSeconds } });
}

/** The server did not reach the requested revision before the deadline. */
export function tooLargeResourceVersion(asked: bigint | number, current: bigint | number): ApiError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiError("Timeout", message, { details: { causes, retryAfterSeconds: 1 } });
}

/** A temporary failure: the server changed nothing, and the client may retry. */
export function serverTimeout(resource: GroupResource, operation: string): ApiError {
  const message = `The ${operation} operation against ${resourceText(resource)} could not be completed at this time, please try again.`;
  return new ApiError("ServerTimeout", message, { details: about(resource, operation) });
}

export function serviceUnavailable(message: string, options: ErrorOptions = {}): ApiError {
  return new ApiError("ServiceUnavailable", message, options);
}

/** A temporary failure of the server. The Status and the header `Retry-After` tell clients when to retry. */
export function temporarilyUnavailable(message: string, options: ErrorOptions = {}): ApiError {
  return new ApiError("ServiceUnavailable", message, { ...options, details: { retryAfterSeconds: 1 } });
}

export function internalError(cause: unknown): ApiError {
  const text = errorText(cause);
  const details = { causes: [{ message: text }] };
  return new ApiError("InternalError", `Internal error occurred: ${text}`, { details, cause });
}

function resourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function about({ group, resource }: GroupResource, name: string): StatusDetails {
  return { name, group, kind: resource };
}

/** Omits empty members, as Go does. */
function orderedDetails(details: StatusDetails): StatusDetails {
  const { name, group, kind, uid, causes = [], retryAfterSeconds } = details;
  return {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    ...(uid ? { uid } : {}),
    ...(causes.length > 0 ? { causes } : {}),
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  };
}
