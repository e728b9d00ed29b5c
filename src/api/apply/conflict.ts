/** The Conflict error of an apply that would change fields of other managers, in upstream's words. */
import { type ApiError, applyConflict } from "../errors/api-error.ts";
import { compareNames } from "../schema/schema.ts";
import { quoted } from "../values/message-text.ts";
import { pathText, paths } from "./fields/field-set.ts";
import { entryId, type ManagedEntry } from "./managed-entry.ts";
import type { Conflicts } from "./object-update.ts";

/**
 * Message: `Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas`. Several conflicts are
 * listed on lines of their own below their manager. Each field has one cause.
 */
export function conflictError(conflicts: Conflicts): ApiError {
  const byManager = [...conflicts]
    .toSorted(([left], [right]) => compareNames(entryId(left), entryId(right)))
    .map(([entry, fields]) => ({ manager: managerText(entry), fields: [...paths(fields)].map(pathText) }));
  const causes = byManager.flatMap(({ manager, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field })),
  );
  const [only] = causes;
  if (only !== undefined && causes.length === 1) {
    return applyConflict(`Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes);
  }
  const lines = byManager.flatMap(({ manager, fields }) => [
    `conflicts with ${manager}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  return applyConflict(`Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`, causes);
}

function managerText({ manager = "", subresource = "", operation, apiVersion }: ManagedEntry): string {
  const name =
    subresource === "" ? quoted(manager) : `${quoted(manager)} with subresource ${quoted(subresource)}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
