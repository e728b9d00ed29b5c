/**
 * Migration from client-side to server-side apply, as in kube-apiserver. kubectl's client-side apply records its
 * configuration in an annotation. When kubectl then applies on the server, unchanged fields from that annotation are no
 * conflict. The annotation is kept current, so that kubectl can go back to client-side apply. Only the manager `kubectl`
 * gets this; another name opts out.
 */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { parseJson } from "../json/json-scan.ts";
import { stringifyJson } from "../json/json-text.ts";
import { ANNOTATIONS_MAX_BYTES } from "../metadata.ts";
import { findConfigMistakes } from "./fields/check-config.ts";
import { compare, allFields } from "./fields/compare.ts";
import { difference, EMPTY, type FieldSet } from "./fields/field-set.ts";
import { fieldsOf } from "./fields/present-fields.ts";
import { schemaOf, type Writer } from "./writer.ts";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const MANAGER = "kubectl";

/** Fields that kubectl set by client-side apply and that are unchanged in the live object. */
export function fieldsLastApplied(live: JsonObject, writer: Writer): FieldSet {
  if (writer.manager !== MANAGER) return EMPTY;
  const applied = parsed(annotationOf(live));
  const schema = schemaOf(writer);
  if (applied?.apiVersion !== writer.apiVersion || findConfigMistakes(applied, schema) !== undefined)
    return EMPTY;
  return difference(fieldsOf(applied, schema), allFields(compare(applied, live, schema)));
}

/** The object with a current annotation; the object itself when it has none or it is current. */
export function withLastApplied(object: JsonObject, config: JsonObject, { manager }: Writer): JsonObject {
  const before = annotationOf(object);
  if (manager !== MANAGER || before === "") return object;
  const text = configText(config);
  if (text === before) return object;
  const { [ANNOTATION]: _, ...others } = annotationsOf(object);
  const isTooLong = bytesOf(others) + bytesOf({ [ANNOTATION]: text }) > ANNOTATIONS_MAX_BYTES;
  const annotations = isTooLong ? others : { ...others, [ANNOTATION]: text };
  return { ...object, metadata: { ...(object.metadata as JsonObject), annotations: sorted(annotations) } };
}

function annotationOf(object: JsonObject): string {
  const text = annotationsOf(object)[ANNOTATION];
  return typeof text === "string" ? text : "";
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function parsed(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(Buffer.from(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Clients may write any text into the annotation; an invalid one is ignored.
    return undefined;
  }
}

/** The configuration as Go's encoder and kubectl write it: keys in order, and a line end. */
function configText(config: JsonObject): string {
  const metadata = config.metadata as JsonObject;
  const { annotations: stated, ...others } = metadata;
  const { [ANNOTATION]: _, ...annotations } = annotationsOf(config);
  const bare = { ...config, metadata: isJsonObject(stated) ? { ...others, annotations } : others };
  const text = stringifyJson(sorted(bare));
  const escaped = text.replace(
    /[<>&\u{2028}\u{2029}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${escaped}\n`;
}

function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T;
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])])) as T;
}

function bytesOf(annotations: JsonObject): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value as string));
  }
  return bytes;
}
