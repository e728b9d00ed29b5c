import { ApiError, forbidden } from "../../api/errors/api-error.ts";
import type { StatusCause } from "../../api/errors/api-error.ts";
import type { AdmissionRequest } from "./plugin.ts";

/** A 403 error: `pods "web" is forbidden: …`. A request without a name is called `Unknown`, as in upstream. */
export function refusal(
  { resource, name }: Pick<AdmissionRequest, "resource" | "name">,
  why: string,
): ApiError {
  const { group, name: plural } = resource.facts;
  return forbidden({ group, resource: plural }, name === "" ? "Unknown" : name, why);
}

/** As `refusal`, with a cause that programs can read. */
export function refusalFor(request: AdmissionRequest, why: string, cause: StatusCause): ApiError {
  const { reason, message, details = {} } = refusal(request, why);
  return new ApiError(reason, message, { details: { ...details, causes: [cause] } });
}
