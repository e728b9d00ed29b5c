/** Whose fields are whose, for policies that may look at that: it is not found out for nothing. */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { PolicyObject } from "./policy-index.ts";

const mentions = new WeakMap<PolicyObject, boolean>();

/** Whether any of its expressions names them. */
export function mentionsOwners(policy: PolicyObject): boolean {
  const known = mentions.get(policy);
  if (known !== undefined) return known;
  const found = JSON.stringify(policy.spec).includes("managedFields");
  mentions.set(policy, found);
  return found;
}

/** The object as expressions see it. */
export function withOwners(object: ApiObject, { owners }: Pick<AdmissionRequest, "owners">): ApiObject {
  return owners?.shown(object) ?? object;
}
