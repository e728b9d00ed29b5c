/**
 * Decides whether an object already carries a declared manifest, so that applying it again would change nothing. It
 * needs no schema: the managed fields recorded for the applier show the structure. When in doubt the result is no,
 * which costs one request.
 *
 * Example: declared `{ spec: { ports: [{ port: 80 }] } }`, recorded `f:spec: f:ports: k:{"port":80}: { .: {}, f:port:
 * {} }`.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

/** True when the applier owns exactly the declared fields and they have the declared values. */
export function isApplied(live: ApiObject, declared: JsonObject, manager: string): boolean {
  const entry = live.metadata.managedFields?.find(
    (each) => each.manager === manager && each.operation === "Apply" && (each.subresource ?? "") === "",
  );
  if (entry === undefined || entry.apiVersion !== declared["apiVersion"]) return false;
  if (!isJsonObject(entry.fieldsV1)) return false;
  return isCarriedObject({ fields: entry.fieldsV1, declared: ownable(declared), live });
}

interface Place {
  /** Managed fields recorded at this path. */
  readonly fields: JsonObject;
  readonly declared: unknown;
  readonly live: unknown;
}

/** The declared fields that a manager can own: all but those that identify the object. */
function ownable(declared: JsonObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = declared;
  if (!isJsonObject(metadata)) return rest;
  const { name: _name, namespace: _namespace, ...ownMetadata } = metadata;
  return Object.keys(ownMetadata).length === 0 ? rest : { ...rest, metadata: ownMetadata };
}

function isCarried(place: Place): boolean {
  const elements = elementsOf(place.fields);
  // A leaf: a scalar, or a value that is owned as a whole.
  if (elements.length === 0) return jsonEqual(place.declared, place.live);
  if (Array.isArray(place.declared)) return isCarriedList(place, elements);
  return isCarriedObject(place);
}

function isCarriedObject({ fields, declared, live }: Place): boolean {
  if (!isJsonObject(declared) || !isJsonObject(live)) return false;
  const names = Object.keys(declared).filter((name) => declared[name] !== undefined);
  if (names.length !== elementsOf(fields).length) return false;
  return names.every((name) => {
    const below = fields[`f:${name}`];
    return isJsonObject(below) && isCarried({ fields: below, declared: declared[name], live: live[name] });
  });
}

function isCarriedList({ fields, declared, live }: Place, names: readonly string[]): boolean {
  if (!Array.isArray(declared) || !Array.isArray(live) || declared.length !== names.length) return false;
  const liveItems: readonly unknown[] = live;
  const elements = names.map(listElement);
  return declared.every((item: unknown) => {
    const matching = elements.filter((element) => isElementOf(element, item));
    const [element] = matching;
    if (element === undefined || matching.length > 1) return false;
    const liveItem = liveItems.find((each) => isElementOf(element, each));
    const below = fields[element.name];
    return isJsonObject(below) && isCarried({ fields: below, declared: item, live: liveItem });
  });
}

/** Managed fields entry of a list item, identified by its value (`v:`) or by its key members (`k:`). */
interface ListElement {
  /** Name of the entry as recorded, for example `k:{"port":80}`. */
  readonly name: string;
  readonly value: unknown;
  readonly keys: readonly (readonly [string, unknown])[] | undefined;
}

/** Parsed once for all items that it is compared with. */
function listElement(name: string): ListElement {
  const value: unknown = JSON.parse(name.slice(2));
  const keys = name.startsWith("k:") && isJsonObject(value) ? Object.entries(value) : undefined;
  return { name, value, keys };
}

/**
 * A key member that the item leaves out has a default. The default is unknown here, so the member counts as equal.
 */
function isElementOf({ name, value, keys }: ListElement, item: unknown): boolean {
  if (name.startsWith("v:")) return jsonEqual(value, item);
  if (keys === undefined || !isJsonObject(item)) return false;
  return keys.every(([key, wanted]) => item[key] === undefined || jsonEqual(item[key], wanted));
}

function elementsOf(fields: JsonObject): readonly string[] {
  return Object.keys(fields).filter((element) => element !== ".");
}
