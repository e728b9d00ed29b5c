/** Responses to callers in the same process: the server's own values, not serialized. */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { withResourceVersion } from "../objects/stored-object.ts";
import type { Answer, ListAnswer, WatchAnswer, WatchEventAnswer } from "../request/answer.ts";
import type { DirectAnswer, DirectEvent, HttpResponse } from "../request/http.ts";
import { listMetadata } from "./list-body.ts";
import type { ObjectView } from "./object-view.ts";
import { warningHeader } from "./warnings.ts";
import { withoutObject } from "./watch-frames.ts";

export interface DirectOptions {
  /** View for stored objects; required when the answer contains one. */
  readonly view?: ObjectView | undefined;
  readonly warnings?: readonly string[] | undefined;
}

const NO_BYTES = new Uint8Array(0);

export function directResponse(answer: Answer, { view, warnings = [] }: DirectOptions): HttpResponse {
  const warning = warnings.length === 0 ? undefined : warningHeader(warnings);
  const headers = new Map(warning === undefined ? [] : [["warning", warning]]);
  return { status: codeOf(answer), headers, body: NO_BYTES, direct: directAnswer(answer, view) };
}

function codeOf(answer: Answer): number {
  if (answer.type === "status") return answer.status.code ?? 200;
  if (answer.type === "nothing") return 204;
  return "code" in answer ? answer.code : 200;
}

function directAnswer(answer: Answer, view: ObjectView | undefined): DirectAnswer {
  if (answer.type === "status") return { type: "value", value: answer.status };
  if (answer.type === "nothing") return { type: "value", value: undefined };
  if (answer.type === "object") return { type: "value", value: view?.shown(answer.object) ?? answer.object };
  if (view === undefined) throw new Error("a stored answer needs a view");
  if (answer.type === "stored") return { type: "value", value: view.value(answer.stored) };
  if (answer.type === "list") return { type: "value", value: listValue(answer, view) };
  return { type: "events", events: directEvents(answer, view) };
}

/** Makes the items when they are read: the caller of `deletecollection` does not, and they may be very many. */
function listValue(list: ListAnswer, view: ObjectView): JsonObject {
  let items: readonly JsonObject[] | undefined;
  return {
    kind: `${view.kind}List`,
    apiVersion: view.apiVersion,
    metadata: listMetadata(list),
    get items() {
      return (items ??= list.items.map((item) => view.value(item)));
    },
  };
}

/** Ends with the events; an early return closes them. */
async function* directEvents(
  { events }: WatchAnswer,
  view: ObjectView,
): AsyncGenerator<readonly DirectEvent[]> {
  for await (const batch of events) yield batch.map((event) => directEvent(event, view));
}

function directEvent(event: WatchEventAnswer, view: ObjectView): DirectEvent {
  const { type, stored, resourceVersion } = event;
  if (stored === undefined) return { type, object: withoutObject(event, view) };
  const value = view.value(stored);
  if (resourceVersion === undefined) return { type, object: value };
  return { type, object: withResourceVersion(value as ApiObject, resourceVersion) };
}
