/** A review is a question in the form of an object; the answer is the same object with its status. */
import { toNormalForm } from "../../api/normal-form.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { ObjectAnswer } from "../answer.ts";
import type { Call } from "../call.ts";
import { expectedKind, readObject } from "../write/incoming.ts";

export interface Question {
  readonly object: ApiObject;
}

export function readQuestion(call: Call): Promise<Question> {
  return readObject(call, expectedKind(call.resource));
}

export function answered({ object }: Question, status: object, { resource }: Call): ObjectAnswer {
  const { value } = toNormalForm(resource.schema, { ...object, status });
  return { type: "object", code: 201, object: value as unknown as ApiObject };
}
