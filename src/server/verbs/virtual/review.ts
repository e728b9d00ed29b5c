/** A review is a question in the form of an object. The answer is the same object with a status. */
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Admission } from "../../admission/admission.ts";
import { callPass } from "../../admission/admission.ts";
import type { Resource } from "../../objects/registry.ts";
import type { ObjectAnswer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { expectedKind, readObject } from "../../write/incoming.ts";
import type { WriteCall } from "../../write/write-call.ts";

export interface ReviewParts {
  readonly admission: Pick<Admission, "pass">;
}

export interface ReviewObject {
  readonly object: ApiObject;
}

export async function readQuestion(call: WriteCall<Resource>, verbParts: ReviewParts): Promise<ReviewObject> {
  const { object } = await readObject(call, expectedKind(call.resource), call.origin.pace);
  const resting = call.origin.pace.rest();
  if (resting !== undefined) await resting;
  const pass = callPass({ call, verbParts }, "CREATE");
  return { object: pass === undefined ? object : await pass.admit(object) };
}

export function answered({ object }: ReviewObject, status: object, { resource }: Call): ObjectAnswer {
  const { value } = toNormalForm(resource.schema, { ...object, status });
  return { type: "object", code: 201, object: value as ApiObject };
}
