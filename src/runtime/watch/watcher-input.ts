/** Parses responses of a transport into typed input of the watcher. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Status } from "../../api/errors/api-error.ts";
import { errorText } from "../../base/error-text.ts";
import type { TransportEvent, TransportResponse, TransportStream } from "../../client/transport.ts";
import { keyOfObject } from "../refs/cache-key.ts";
import type { IncomingEvent, StatusError, WatcherInput } from "./watcher-state.ts";

/** Returns the form in which an object is kept, for example without unread parts. Must keep the object's identity. */
export type Transform = (object: ApiObject) => ApiObject;

const INITIAL_END = "k8s.io/initial-events-end";

export function eventsInput(events: readonly TransportEvent[], transform: Transform): WatcherInput {
  return { type: "events", events: events.map((event) => incomingEvent(event, transform)) };
}

function incomingEvent({ type, object }: TransportEvent, transform: Transform): IncomingEvent {
  if (type === "ERROR") return { type: "error", refusal: refusalOf(object, {}) };
  const version = isObject(object) ? textOf(object.metadata.resourceVersion) : "";
  if (!isObject(object) || version === "") return malformed(type);
  if (type === "BOOKMARK") {
    const isInitialEnd = object.metadata.annotations?.[INITIAL_END] === "true";
    return { type: "bookmark", version, isInitialEnd };
  }
  if (!isNamed(object)) return malformed(type);
  const key = keyOfObject(object);
  return { type: type === "DELETED" ? "delete" : "put", object: transform(object), key, version };
}

function malformed(type: string): IncomingEvent {
  return { type: "malformed", why: `the server sent an event ${type} without name or resourceVersion` };
}

/** Skips items without a name: no request could address them. */
export function pageInput(
  { code, value, retryAfterSeconds }: TransportResponse,
  transform: Transform,
): WatcherInput {
  if (code < 200 || code > 299)
    return { type: "refused", refusal: refusalOf(value, { code, retryAfterSeconds }) };
  if (!isObject(value)) return NO_LIST;
  const { items, metadata } = value as Page;
  const version = textOf(metadata.resourceVersion);
  if (version === "") return NO_LIST;
  const named = (items ?? []).filter((item) => isObject(item) && isNamed(item)) as ApiObject[];
  const token = textOf(metadata.continue);
  return { type: "page", objects: named.map(transform), version, token: token === "" ? undefined : token };
}

const NO_LIST: WatcherInput = {
  type: "broken",
  why: "the server's response is not a list",
};

interface Page {
  /** Go writes an empty list as null. */
  readonly items?: readonly unknown[] | null;
  readonly metadata: { readonly resourceVersion?: unknown; readonly continue?: unknown };
}

export function openingInput(stream: TransportStream<unknown>): WatcherInput {
  const { code, refusal, retryAfterSeconds } = stream;
  if (refusal === undefined && code >= 200 && code <= 299) return { type: "opened" };
  return { type: "refused", refusal: refusalOf(refusal, { code, retryAfterSeconds }) };
}

/** Transports reject when there is no response. Some clients also reject for an error response. */
export function failureInput(error: unknown): WatcherInput {
  if (isApiError(error) && error.reason !== "ServiceUnavailable") {
    const { code, message, details } = error;
    return { type: "refused", refusal: refusalOf({ code, message, details }, {}) };
  }
  return { type: "broken", why: errorText(error) };
}

function refusalOf(
  status: unknown,
  answer: { readonly code?: number; readonly retryAfterSeconds?: number | undefined },
): StatusError {
  const { code = 500, message = "", details } = (isRecord(status) ? status : {}) as Partial<Status>;
  const isAhead = details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") ?? false;
  return {
    code: answer.code ?? code,
    message,
    isAhead: isAhead || message.includes("Too large resource version"),
    retryAfterSeconds: answer.retryAfterSeconds ?? details?.retryAfterSeconds,
  };
}

function isObject(value: unknown): value is ApiObject {
  return isRecord(value) && isRecord(value["metadata"]);
}

function isNamed({ metadata }: ApiObject): boolean {
  return textOf(metadata.name) !== "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
