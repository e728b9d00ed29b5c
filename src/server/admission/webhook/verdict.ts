/** Parses and validates a webhook's response. Invalid members are refused or dropped. */
import { DeniedError } from "../../../api/errors/api-error.ts";
import type { StatusCause, StatusDetails } from "../../../api/errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import { parseJson } from "../../../api/json/json-scan.ts";
import { quoted } from "../../../api/values/message-text.ts";
import type { Hook, ReviewVersion } from "./hook.ts";

export interface Verdict {
  /** Undefined if the request is allowed. */
  readonly denial: DeniedError | undefined;
  /** A JSON patch; undefined if the webhook changes nothing. */
  readonly patch: readonly JsonObject[] | undefined;
  readonly warnings: readonly string[];
  readonly annotations: ReadonlyMap<string, string>;
}

/** The response is unusable. */
export class BadVerdict extends Error {
  override readonly name = "BadVerdict";
}

/** The response has a patch that is not a JSON patch. */
export class BadPatch extends BadVerdict {}

interface Expected {
  readonly hook: Hook;
  readonly version: ReviewVersion;
  readonly uid: string;
}

/** Throws BadVerdict. */
export function verdictOf(review: unknown, { hook, version, uid }: Expected): Verdict {
  if (!isJsonObject(review)) throw new BadVerdict("webhook response was absent");
  const response = findOwn(review, "response");
  if (!isJsonObject(response)) throw new BadVerdict("webhook response was absent");
  if (version === "v1" && text(response, "uid") !== uid)
    throw new BadVerdict(`expected response.uid=${quoted(uid)}, got ${quoted(text(response, "uid"))}`);
  checkKind(review, version);
  const patch = hook.type === "mutating" ? findPatch(response, version) : refusePatch(response, version);
  const isAllowed = findOwn(response, "allowed") === true;
  return {
    denial: isAllowed ? undefined : denialOf(hook, findOwn(response, "status")),
    // The patch of a denial is ignored.
    patch: isAllowed && patch !== undefined ? changesIn(patch) : undefined,
    warnings: warningsOf(response),
    annotations: annotationsOf(response, hook),
  };
}

function checkKind(review: JsonObject, version: ReviewVersion): void {
  const wanted = `admission.k8s.io/${version}, Kind=AdmissionReview`;
  const [apiVersion, kind] = [text(review, "apiVersion"), text(review, "kind")];
  const found = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
  const isUnsaid = apiVersion === "" && kind === "";
  if (found === wanted || (version === "v1beta1" && isUnsaid)) return;
  throw new BadVerdict(`expected webhook response of ${wanted}, got ${found}`);
}

/** In v1beta1, JSONPatch is the only patch type, and `patchType` is optional. */
function findPatch(response: JsonObject, version: ReviewVersion): Uint8Array | undefined {
  const patch = bytesOf(response);
  const type = findOwn(response, "patchType") ?? undefined;
  if (version === "v1") checkPatchType(patch, type);
  if (patch === undefined || type === undefined || type === "JSONPatch") return patch;
  throw new BadVerdict(`unsupported patch type ${quoted(typeof type === "string" ? type : "")}`);
}

function checkPatchType(patch: Uint8Array | undefined, type: unknown): void {
  if (patch !== undefined && type === undefined)
    throw new BadVerdict("webhook returned response.patch but not response.patchType");
  if (patch === undefined && type !== undefined)
    throw new BadVerdict("webhook returned response.patchType but not response.patch");
  if (type === "") throw new BadVerdict('webhook returned invalid response.patchType of ""');
}

function refusePatch(response: JsonObject, version: ReviewVersion): undefined {
  if (version !== "v1") return undefined;
  if (bytesOf(response) !== undefined)
    throw new BadVerdict("validating webhook may not return response.patch");
  if ((findOwn(response, "patchType") ?? undefined) !== undefined)
    throw new BadVerdict("validating webhook may not return response.patchType");
  return undefined;
}

/** `null` counts as an empty list: Go encodes a nil slice as null. */
function changesIn(patch: Uint8Array): readonly JsonObject[] {
  const changes = readJson(patch) ?? [];
  if (Array.isArray(changes) && changes.every(isJsonObject)) return changes;
  throw new BadPatch("it is no list of changes");
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    throw new BadPatch(error instanceof Error ? error.message : "it is no JSON");
  }
}

function bytesOf(response: JsonObject): Uint8Array | undefined {
  const patch = text(response, "patch");
  return patch === "" ? undefined : Buffer.from(patch, "base64");
}

/** A denial always has an error code, even if the webhook sends a success status. */
function denialOf({ name }: Hook, status: unknown): DeniedError {
  const given = isJsonObject(status) ? status : {};
  const code = findOwn(given, "code");
  const reason = text(given, "reason");
  const message = text(given, "message");
  const denied = `admission webhook ${quoted(name)} denied the request`;
  const why = message === "" ? reason : message;
  const details = findOwn(given, "details");
  return new DeniedError(why === "" ? `${denied} without explanation` : `${denied}: ${why}`, {
    code: typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599 ? code : 400,
    ...(reason !== "" && { servedReason: reason }),
    ...(isJsonObject(details) && { details: detailsOf(details) }),
  });
}

function detailsOf(details: JsonObject): StatusDetails {
  const { causes, retryAfterSeconds } = details;
  return {
    name: text(details, "name"),
    group: text(details, "group"),
    kind: text(details, "kind"),
    uid: text(details, "uid"),
    ...(typeof retryAfterSeconds === "number" && { retryAfterSeconds }),
    ...(Array.isArray(causes) && {
      causes: causes.filter(isJsonObject).map(causeOf),
    }),
  };
}

/** Omits empty members, as Go does. */
function causeOf(cause: JsonObject): StatusCause {
  const [reason, message, field] = [text(cause, "reason"), text(cause, "message"), text(cause, "field")];
  return {
    ...(reason !== "" && { reason }),
    ...(message !== "" && { message }),
    ...(field !== "" && { field }),
  };
}

function warningsOf(response: JsonObject): readonly string[] {
  const warnings = findOwn(response, "warnings");
  return Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === "string") : [];
}

/** Each key is prefixed with the webhook's name, so that no webhook can write another's annotations. */
function annotationsOf(response: JsonObject, { name }: Hook): ReadonlyMap<string, string> {
  const annotations = findOwn(response, "auditAnnotations");
  const found = new Map<string, string>();
  if (!isJsonObject(annotations)) return found;
  for (const [key, value] of Object.entries(annotations))
    if (typeof value === "string") found.set(`${name}/${key}`, value);
  return found;
}

function text(holder: JsonObject, name: string): string {
  const value = findOwn(holder, name);
  return typeof value === "string" ? value : "";
}

function findOwn(holder: JsonObject, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}
