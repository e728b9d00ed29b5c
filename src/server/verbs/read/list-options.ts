/** Parses and checks the query of list, watch and deletecollection. */
import { badRequest, invalid } from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type { ResourceFacts } from "../../../api/schema/resource-facts.ts";
import { checkSelectedFields, parseFieldSelector } from "../../../api/selectors/field-selector.ts";
import type { FieldSelector, SelectableFields } from "../../../api/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../api/selectors/label-query.ts";
import type { LabelSelector } from "../../../api/selectors/label-selector.ts";
import { errorText } from "../../../base/error-text.ts";
import { isTrue } from "../../request/parse-request.ts";

export interface ListOptions {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** Undefined when not given: the newest state. 0: any state. */
  readonly resourceVersion: number | undefined;
  /** One of VERSION_MATCHES; empty when not given. */
  readonly match: string;
  /** Negative: the watch ends at once. */
  readonly timeoutSeconds: number | undefined;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

const VERSION_MATCHES = ["Exact", "NotOlderThan"];
/** A sign and 19 digits, or 20 digits. */
const INT64_LENGTH = 20;
/** An int64 of nanoseconds holds about three hundred years. */
const SECONDS_MAX = 2 ** 63 / 1e9;
const METADATA_FIELDS = ["metadata.name", "metadata.namespace"];

/** Reports mistakes in upstream's order: unparsable values, forbidden combinations, then fields that the resource cannot select. */
export function listOptionsOf(
  query: URLSearchParams,
  facts: ResourceFacts,
  verb: "list" | "watch",
): ListOptions {
  const read = {
    labels: attempt(() => parseLabelSelector(query.get("labelSelector") ?? "")),
    fields: attempt(() => parseFieldSelector(query.get("fieldSelector") ?? "")),
    limit: Math.max(0, int64Of(query, "limit") ?? 0),
    continueToken: query.get("continue") ?? "",
    timeoutSeconds: wrapped(int64Of(query, "timeoutSeconds")),
    allowBookmarks: isTrue(query.get("allowWatchBookmarks")),
    ...initialOf(query, verb),
  };
  checkTogether({ ...read, version: query.get("resourceVersion") ?? "" }, verb);
  attempt(() => checkSelectedFields(read.fields, selectableFields(facts)));
  const about = verb === "list" ? "invalid resource version: " : "";
  return { ...read, resourceVersion: resourceVersionOf(query, about) };
}

/** Upstream selects built-in kinds by namespace even if they have none, custom kinds not. */
function selectableFields({ definition, namespaced, fieldSelectors }: ResourceFacts): SelectableFields {
  const isCustomKind = definition !== undefined;
  const metadata = isCustomKind && !namespaced ? ["metadata.name"] : METADATA_FIELDS;
  return { names: new Set([...metadata, ...fieldSelectors]), isCustomKind };
}

/** A watch without a start version asks for the existing objects too. With bookmarks, one marks the end of those. */
function initialOf(
  query: URLSearchParams,
  verb: "list" | "watch",
): Pick<ListOptions, "match" | "sendInitialEvents"> {
  const initial = query.get("sendInitialEvents");
  const match = query.get("resourceVersionMatch") ?? "";
  if (initial !== null) return { match, sendInitialEvents: isTrue(initial) };
  const version = query.get("resourceVersion") ?? "";
  const isAsked = verb === "watch" && isTrue(query.get("watch"));
  const isFromAnywhere = isAsked && match === "" && (version === "" || version === "0");
  return isFromAnywhere
    ? { match: "NotOlderThan", sendInitialEvents: true }
    : { match, sendInitialEvents: undefined };
}

interface Together extends Pick<ListOptions, "match" | "continueToken" | "sendInitialEvents"> {
  /** The value as sent. */
  readonly version: string;
}

/** Throws 422 with the fields in conflict. */
function checkTogether(options: Together, verb: "list" | "watch"): void {
  const errors = new FieldErrors();
  if (verb === "watch") checkForWatch(options, errors);
  else checkForList(options, errors);
  if (!errors.isEmpty) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors.found);
}

const MATCH = "resourceVersionMatch";

function checkForWatch({ match, continueToken, sendInitialEvents }: Together, errors: FieldErrors): void {
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.forbidden(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match === "") return;
  if (sendInitialEvents === undefined) {
    errors.forbidden(
      MATCH,
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    );
  }
  if (match !== "NotOlderThan") errors.notSupported(MATCH, match, ["NotOlderThan"]);
  if (continueToken !== "")
    errors.forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided");
}

function checkForList(options: Together, errors: FieldErrors): void {
  if (options.match !== "") checkMatch(options, errors);
  if (options.sendInitialEvents !== undefined)
    errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
}

function checkMatch({ match, version, continueToken }: Together, errors: FieldErrors): void {
  if (version === "") {
    errors.forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (continueToken !== "")
    errors.forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided");
  if (!VERSION_MATCHES.includes(match)) errors.notSupported(MATCH, match, [...VERSION_MATCHES, ""]);
  if (match === "Exact" && version === "0") {
    errors.forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
}

function attempt<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(errorText(error));
  }
}

/** Numbers beyond 2^53 lose digits. This is harmless: a limit of that size never applies. */
export function int64Of(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(parseFailure("ParseInt", text, "invalid syntax"));
  if (text.length > INT64_LENGTH || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw badRequest(parseFailure("ParseInt", text, "value out of range"));
  }
  return Number(text);
}

/** Wraps like upstream's int64 of nanoseconds: an overlong timeout may become negative and end the watch at once. */
function wrapped(seconds: number | undefined): number | undefined {
  if (seconds === undefined || Math.abs(seconds) < SECONDS_MAX) return seconds;
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)) / 1e9;
}

export function resourceVersionOf(query: URLSearchParams, about = ""): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  if (text === "") return undefined;
  const given = `${about}resourceVersion: Invalid value: ${JSON.stringify(text)}: `;
  if (!/^\d+$/.test(text)) throw badRequest(given + parseFailure("ParseUint", text, "invalid syntax"));
  if (text.length > INT64_LENGTH || BigInt.asUintN(64, BigInt(text)) !== BigInt(text)) {
    throw badRequest(given + parseFailure("ParseUint", text, "value out of range"));
  }
  return Number(text);
}

/** Error text of Go's strconv. */
function parseFailure(parser: string, text: string, why: string): string {
  return `strconv.${parser}: parsing ${JSON.stringify(text)}: ${why}`;
}
