/** Turns request and response objects into text for the log, in the requested version, without secrets. */
import { CAUSES_GROUP } from "../../../api/causes/change.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { isStored } from "../../objects/registry.ts";
import type { Resource } from "../../objects/registry.ts";
import { directResponse } from "../../representation/direct.ts";
import { listMetadata } from "../../representation/list-body.ts";
import { wholeView } from "../../representation/object-view.ts";
import type { ObjectView, ViewTools } from "../../representation/object-view.ts";
import type { Answer, ListAnswer } from "../../request/answer.ts";
import type { RequestInfo } from "../../request/request-info.ts";

export interface RecordOptions {
  readonly info: RequestInfo;
  readonly omitManagedFields: boolean;
}

/** Undefined when the text is too long for an event. */
type Recorded = string | undefined;

/** Longer objects are left out, and the event is marked as truncated. */
const OBJECT_CHARS_MAX = 4 << 20;

export function bodyText(body: unknown, options: RecordOptions): Recorded {
  return bounded(stringifyJson(shown(body, options)));
}

export function answerText(
  answer: Exclude<Answer, { readonly type: "watch" }>,
  resource: Resource,
  { tools, ...options }: RecordOptions & { readonly tools: ViewTools },
): Recorded {
  const view = isStored(resource) ? wholeView(resource, tools) : undefined;
  if (answer.type === "list" && view !== undefined) return listText(answer, view, options);
  const { direct } = directResponse(answer, { view });
  return direct?.type === "value" ? bounded(stringifyJson(shown(direct.value, options))) : undefined;
}

/** Built item by item, because an event has a size limit and a list has none. */
function listText(list: ListAnswer, view: ObjectView, options: RecordOptions): Recorded {
  const head = { kind: view.listKind, apiVersion: view.apiVersion, metadata: listMetadata(list) };
  let text = `${stringifyJson(head).slice(0, -1)},"items":[`;
  for (const [at, item] of list.items.entries()) {
    text += `${at === 0 ? "" : ","}${stringifyJson(shown(view.value(item), options))}`;
    if (text.length > OBJECT_CHARS_MAX) return undefined;
  }
  return `${text}]}`;
}

function bounded(text: string): Recorded {
  return text.length > OBJECT_CHARS_MAX ? undefined : text;
}

/** Removes tokens at every level, unlike kube-apiserver: every reader of the log could use them. */
function shown(value: unknown, { info, omitManagedFields }: RecordOptions): unknown {
  if (!isJsonObject(value)) return value;
  if (info.type !== "other" && info.group === CAUSES_GROUP) return withoutValues(value);
  const object = omitManagedFields ? withoutField(value, "metadata", "managedFields") : value;
  if (!carriesToken(info)) return object;
  return withoutField(withoutField(object, "spec", "token"), "status", "token");
}

function carriesToken(info: RequestInfo): boolean {
  if (info.type === "other") return false;
  const { group, resource, subresource } = info;
  if (group === "authentication.k8s.io") return resource === "tokenreviews";
  return group === "" && resource === "serviceaccounts" && subresource === "token";
}

/** Changes contain values of other kinds, for which the policy may ask less. */
function withoutValues(list: JsonObject): JsonObject {
  const { items } = list;
  if (!Array.isArray(items)) return list;
  const kept = items.map((item: unknown) => {
    if (!isJsonObject(item) || !Array.isArray(item["fields"])) return item;
    const paths = item["fields"].map((field: unknown) =>
      isJsonObject(field) ? { path: field["path"] } : field,
    );
    return { ...item, fields: paths };
  });
  return { ...list, items: kept };
}

function withoutField(object: JsonObject, part: string, field: string): JsonObject {
  const inner = object[part];
  if (!isJsonObject(inner) || !Object.hasOwn(inner, field)) return object;
  const { [field]: _omitted, ...rest } = inner;
  return { ...object, [part]: rest };
}
