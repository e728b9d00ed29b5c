/** Builds a pod from its owner's template. */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

/** Upper bound of a pod name's length. */
const NAME_MAX = 253;

/** Sets generateName; `name`, if given, takes precedence on the server. */
export function podFromTemplate(owner: ApiObject, template: PodTemplateSpec, name?: string): Manifest<Pod> {
  const { labels, annotations, finalizers } = template.metadata;
  const { namespace, name: ownerName = "" } = owner.metadata;
  return {
    metadata: {
      generateName: namePrefix(ownerName),
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    spec: template.spec,
  };
}

/** The server truncates a prefix that is too long for its suffix. */
function namePrefix(ownerName: string): string {
  return ownerName.length < NAME_MAX ? `${ownerName}-` : ownerName;
}
