/** Converts error responses of any server into ApiErrors. */
import { ApiError, findReason } from "../api/errors/api-error.ts";
import type { ApiErrorReason, StatusDetails } from "../api/errors/api-error.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";

/** Reason for a code when the response has no known reason. */
const REASONS: Readonly<Record<number, ApiErrorReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  502: "ServiceUnavailable",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Upper bound of the characters shown of a body that is not a Status, for example a proxy's page. */
const SHOWN_CHARACTERS_MAX = 200;

export interface ErrorResponse {
  readonly code: number;
  /** A Status from a Kubernetes server; any value from a proxy. */
  readonly value: unknown;
  readonly retryAfterSeconds?: number | undefined;
  /** Path of the request: a 404 for a resource that is not served does not name it. */
  readonly path?: string;
}

export function errorFromResponse({ code, value, retryAfterSeconds, path }: ErrorResponse): ApiError {
  const status = isStatus(value) ? value : {};
  const reason = findReason(status["reason"]) ?? reasonOf(code);
  const details = detailsOf(status, { retryAfterSeconds, ...(code === 404 && { path }) });
  const continueToken = continueTokenOf(status);
  return new ApiError(reason, messageOf(status, { code, value }), {
    ...(details !== undefined && { details }),
    ...(continueToken !== undefined && { continueToken }),
  });
}

/** True when the error proves that the server did not carry the request out. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code < 500;
}

/** Seconds after which to retry, from the header or the Status. */
export function retryAfterOf({ value, retryAfterSeconds }: ErrorResponse): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  const details = isStatus(value) ? value["details"] : undefined;
  const seconds = isJsonObject(details) ? details["retryAfterSeconds"] : undefined;
  return typeof seconds === "number" && seconds > 0 ? seconds : undefined;
}

function isStatus(value: unknown): value is JsonObject {
  return isJsonObject(value) && value["kind"] === "Status";
}

function reasonOf(code: number): ApiErrorReason {
  return REASONS[code] ?? (code >= 400 && code < 500 ? "BadRequest" : "InternalError");
}

function messageOf(status: JsonObject, { code, value }: ErrorResponse): string {
  const message = status["message"];
  if (typeof message === "string" && message !== "") return message;
  const shown = typeof value === "string" ? value.trim().slice(0, SHOWN_CHARACTERS_MAX) : "";
  return shown === "" ? `the server returned code ${code}` : shown;
}

/** Group and plural of the resource that a path names. */
const RESOURCE_PATH = /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/(?=.))?(?<kind>[^/]+)/;

function detailsOf(
  status: JsonObject,
  { retryAfterSeconds, path }: Pick<ErrorResponse, "retryAfterSeconds" | "path">,
): StatusDetails | undefined {
  const given = isJsonObject(status["details"]) ? (status["details"] as StatusDetails) : undefined;
  const resource = given?.kind === undefined ? findResource(path) : undefined;
  const wait = given?.retryAfterSeconds === undefined ? retryAfterSeconds : undefined;
  if (resource === undefined && wait === undefined) return given;
  return { ...given, ...resource, ...(wait !== undefined && { retryAfterSeconds: wait }) };
}

function findResource(path = ""): StatusDetails | undefined {
  const { group, kind } = RESOURCE_PATH.exec(path)?.groups ?? {};
  if (kind === undefined) return undefined;
  return group === undefined ? { kind } : { group, kind };
}

function continueTokenOf({ metadata }: JsonObject): string | undefined {
  const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
  return typeof token === "string" && token !== "" ? token : undefined;
}
