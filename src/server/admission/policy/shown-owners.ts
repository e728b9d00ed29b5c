/**
 * Adds managedFields to the objects that expressions see, but only for policies that mention them: they cost time to
 * compute.
 */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { PolicyObject } from "./policy-index.ts";

const mentions = new WeakMap<PolicyObject, boolean>();

/** Whether an expression of the policy mentions `managedFields`. */
export function mentionsOwners(policy: PolicyObject): boolean {
  const known = mentions.get(policy);
  if (known !== undefined) return known;
  const found = JSON.stringify(policy.spec).includes("managedFields");
  mentions.set(policy, found);
  return found;
}

/** The object with its managedFields, as expressions see it. */
export function withOwners(object: ApiObject, { owners }: Pick<AdmissionRequest, "owners">): ApiObject {
  return owners?.shown(object) ?? object;
}
