/** A pod as its owner's template describes it. */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

/** Of a pod. */
const NAME_MAX = 253;

/** The server completes the name, unless the owner gives one beside it. */
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

/** The server cuts it where it is too long for what it adds. */
function namePrefix(ownerName: string): string {
  return ownerName.length < NAME_MAX ? `${ownerName}-` : ownerName;
}
