import { fieldPath } from "../../api/errors/field-error.ts";
import type { ControllerRevision } from "../../api/generated/types/apps-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkNonNegative } from "../rules/value-rules.ts";

export const controllerRevision = defineKind<ControllerRevision>("apps/v1", "ControllerRevision", {
  validate({ data, revision }, errors) {
    if (data === undefined || data === null) errors.required("data", "data is mandatory");
    checkNonNegative(revision, fieldPath("revision"), errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("data", next.data, previous.data);
  },

  cells(object, now) {
    const owner = (object.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
    return [
      object.metadata.name,
      owner === undefined ? "<none>" : ownerText(owner),
      object.revision,
      ageText(object, now),
    ];
  },
});

/** Example: `statefulset.apps/web`. */
function ownerText({ apiVersion, kind, name }: { apiVersion: string; kind: string; name: string }): string {
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${kind.toLowerCase()}${group}/${name}`;
}
