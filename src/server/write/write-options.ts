/** The query of every write. */
import { invalid } from "../../api/api-error.ts";
import { FieldErrors } from "../../api/field-error.ts";
import type { Call } from "../call.ts";
import type { RequestVerb } from "../request-info.ts";
import type { User } from "../user.ts";

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Who owns the fields that are written. */
  readonly manager: string;
  readonly user: User;
}

const MANAGER_MAX = 128;
const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];
const ALL_PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Upstream's names for the query of each verb. */
const OPTION_KINDS: Partial<Record<RequestVerb, string>> = { update: "UpdateOptions", patch: "PatchOptions" };

export function writeOptionsOf({ query, request, user, info }: Call): WriteOptions {
  if (query.size === 0)
    return { isDryRun: false, manager: managerOf(request.headers.get("user-agent") ?? ""), user };
  const manager = query.get("fieldManager") ?? "";
  const dryRun = query.getAll("dryRun");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = new FieldErrors();
  checkDryRun(dryRun, errors);
  checkManager(manager, errors);
  if (!FIELD_VALIDATIONS.includes(fieldValidation))
    errors.notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS);
  refuseOptions(OPTION_KINDS[info.verb] ?? "CreateOptions", errors);
  return {
    isDryRun: isDryRun(dryRun),
    manager: manager === "" ? managerOf(request.headers.get("user-agent") ?? "") : manager,
    user,
  };
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

/** `kubectl/v1.36 (linux)` writes as `kubectl`. */
function managerOf(userAgent: string): string {
  const name = userAgent.split("/", 1)[0]?.slice(0, MANAGER_MAX) ?? "";
  return name === "" ? "unknown" : name;
}

export function checkDryRun(values: readonly string[], errors: FieldErrors): void {
  const asked = values.filter((value) => value !== "");
  if (asked.some((value) => value !== "All")) errors.notSupported("dryRun", asked, ["All"]);
}

export function isDryRun(values: readonly string[]): boolean {
  return values.some((value) => value !== "");
}
