/** Matches the objects of a list or watch by label and field selectors. */
import { fieldsMatch } from "../../../api/selectors/field-selector.ts";
import { labelsMatch } from "../../../api/selectors/label-selector.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { fieldValue } from "../../objects/selection/selection-terms.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import type { Versions } from "../../objects/versions.ts";
import type { ListOptions } from "./list-options.ts";

export type ObjectFilter = (stored: StoredObject) => boolean;

/** Undefined when every object matches, which saves decoding them. */
export function filterOf(
  { labels, fields }: Pick<ListOptions, "labels" | "fields">,
  resource: StoredResource,
  versions: Versions,
): ObjectFilter | undefined {
  if (labels.requirements.length === 0 && fields.terms.length === 0) return undefined;
  return (stored) => {
    const object = versions.served(stored, resource);
    const valueOf = (field: string): string => fieldValue(object, field, resource.rules);
    return labelsMatch(labels, object.metadata.labels) && fieldsMatch(fields, valueOf);
  };
}
