/** A pod as its owner's template describes it. */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { ownerReferenceTo } from "../../runtime/owner-reference.ts";

/** The longest name that leaves room for what the server adds to a generated one. */
const GENERATE_NAME_MAX = 58;

/** The server completes the name, unless the owner gives one. */
export function podFromTemplate(owner: ApiObject, template: PodTemplateSpec, name?: string): Manifest<Pod> {
  const { labels, annotations, finalizers } = template.metadata;
  const { namespace, name: ownerName = "" } = owner.metadata;
  return {
    metadata: {
      ...(name === undefined ? { generateName: namePrefix(ownerName) } : { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    spec: template.spec,
  };
}

function namePrefix(ownerName: string): string {
  return `${ownerName.slice(0, GENERATE_NAME_MAX - 1)}-`;
}
