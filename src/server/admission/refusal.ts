import { type ApiError, forbidden } from "../../api/api-error.ts";
import type { AdmissionRequest } from "./plugin.ts";

/** `pods "web" is forbidden: …`. */
export function refusal({ resource, name }: AdmissionRequest, why: string): ApiError {
  const { group, name: plural } = resource.facts;
  return forbidden({ group, resource: plural }, name, why);
}
