/** Options of a write: dryRun, fieldManager, fieldValidation and force in the query, the resourceVersion in the object. */
import { invalid } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Call } from "../request/call.ts";
import { patchMediaType } from "../request/media-type.ts";
import type { AskedVerb } from "../request/request-info.ts";
import type { User } from "../request/user.ts";

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Field manager of the written fields. */
  readonly manager: string;
  readonly user: User;
}

/** The media type of server-side apply. */
export const APPLY_YAML = "application/apply-patch+yaml";
const MANAGER_MAX = 128;
const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];
const ALL_PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Upstream's kind of the options for each verb. */
const OPTION_KINDS: Partial<Record<AskedVerb, string>> = { update: "UpdateOptions", patch: "PatchOptions" };

export function writeOptionsOf(call: Call): WriteOptions {
  const { query, request, user, info } = call;
  const isPatch = info.verb === "patch";
  if (query.size === 0 && !isPatch)
    return { isDryRun: false, manager: managerOf(request.headers.get("user-agent") ?? ""), user };
  const manager = query.get("fieldManager") ?? "";
  const dryRun = query.getAll("dryRun");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = new FieldErrors();
  if (isPatch) checkForPatch(call, errors);
  checkManager(manager, errors);
  checkDryRun(dryRun, errors);
  if (!FIELD_VALIDATIONS.includes(fieldValidation))
    errors.notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS);
  refuseOptions(OPTION_KINDS[info.verb] ?? "CreateOptions", errors);
  return {
    isDryRun: isDryRun(dryRun),
    manager: manager === "" ? managerOf(request.headers.get("user-agent") ?? "") : manager,
    user,
  };
}

/** Apply requires a fieldManager and allows force; other patches refuse force. */
function checkForPatch({ query, request }: Call, errors: FieldErrors): void {
  const isApply = patchMediaType(request.headers.get("content-type")) === APPLY_YAML;
  if (isApply && (query.get("fieldManager") ?? "") === "")
    errors.required("fieldManager", "is required for apply patch");
  if (!isApply && query.has("force")) errors.forbidden("force", "may not be specified for non-apply patch");
}

export function refuseOptions(kind: string, errors: FieldErrors): void {
  if (!errors.isEmpty) throw invalid({ group: "meta.k8s.io", kind }, "", errors.found);
}

function checkManager(manager: string, errors: FieldErrors): void {
  if (Buffer.byteLength(manager) > MANAGER_MAX) errors.tooLong("fieldManager", MANAGER_MAX);
  if (ALL_PRINTABLE.test(manager)) return;
  const wrong = Array.from(manager).find((character) => !PRINTABLE.test(character));
  if (wrong === undefined) return;
  const code = (wrong.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const at = String(Buffer.byteLength(manager.slice(0, manager.indexOf(wrong))));
  errors.invalid("fieldManager", manager, `invalid character U+${code} (at position ${at})`);
}

/** Field manager from the user agent: `kubectl/v1.36 (linux)` gives `kubectl`. */
function managerOf(userAgent: string): string {
  const name = userAgent.split("/", 1)[0]?.slice(0, MANAGER_MAX) ?? "";
  return name === "" ? "unknown" : name;
}

export function checkDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== "All")) errors.notSupported("dryRun", values, ["All"]);
}

export function isDryRun(values: readonly string[]): boolean {
  return values.length > 0;
}

/** The resourceVersion that a write requires. Empty means any version; clients also send "0" for that. */
export function versionAsked({ metadata }: Pick<ApiObject, "metadata">): string {
  const { resourceVersion = "" } = metadata;
  return resourceVersion === "0" ? "" : resourceVersion;
}

/** Largest number that upstream reads as a resourceVersion. */
const VERSION_MAX = 2n ** 64n - 1n;

/** Whether upstream's store parses the text as a version. On a new object it ignores other texts, for example `-1`. */
export function isVersion(text = ""): boolean {
  if (!/^\d{1,1000}$/.test(text)) return false;
  const version = BigInt(text);
  return version > 0n && version <= VERSION_MAX;
}
