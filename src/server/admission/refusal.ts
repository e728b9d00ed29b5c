import { ApiError, forbidden } from "../../api/errors/api-error.ts";
import type { StatusCause } from "../../api/errors/api-error.ts";
import type { AdmissionRequest } from "./plugin.ts";

/** `pods "web" is forbidden: …`. What a request does not name is called `Unknown`, as upstream calls it. */
export function refusal(
  { resource, name }: Pick<AdmissionRequest, "resource" | "name">,
  why: string,
): ApiError {
  const { group, name: plural } = resource.facts;
  return forbidden({ group, resource: plural }, name === "" ? "Unknown" : name, why);
}

/** The same with what programs know it by. */
export function refusalFor(request: AdmissionRequest, why: string, cause: StatusCause): ApiError {
  const { reason, message, details = {} } = refusal(request, why);
  return new ApiError(reason, message, { details: { ...details, causes: [cause] } });
}
