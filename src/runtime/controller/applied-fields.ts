/**
 * Whether an object already carries what is declared, so that applying it once more would change nothing. Asked without the kind's schema: the
 * fields that the server recorded for the applier say how the object is made up. In doubt the answer is no, which costs a request.
 *
 * Example: declared `{ spec: { ports: [{ port: 80 }] } }`, recorded `f:spec: f:ports: k:{"port":80}: { .: {}, f:port: {} }`.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

/** The applier owns exactly the declared fields, and they have the declared values. */
export function carries(live: ApiObject, declared: JsonObject, manager: string): boolean {
  const entry = live.metadata.managedFields?.find(
    (each) => each.manager === manager && each.operation === "Apply" && (each.subresource ?? "") === "",
  );
  if (entry === undefined || entry.apiVersion !== declared["apiVersion"]) return false;
  if (!isJsonObject(entry.fieldsV1)) return false;
  return isCarriedObject({ fields: entry.fieldsV1, declared: ownable(declared), live });
}

interface Place {
  /** Recorded for this place. */
  readonly fields: JsonObject;
  readonly declared: unknown;
  readonly live: unknown;
}

/** Without what says which object is meant: nobody owns that. */
function ownable(declared: JsonObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = declared;
  if (!isJsonObject(metadata)) return rest;
  const { name: _name, namespace: _namespace, ...ownMetadata } = metadata;
  return Object.keys(ownMetadata).length === 0 ? rest : { ...rest, metadata: ownMetadata };
}

function isCarried(place: Place): boolean {
  const elements = elementsOf(place.fields);
  // A value, or something that is owned as a whole.
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

/** An item of a list, by its value or by the members that make it out. */
interface ListElement {
  /** As recorded. */
  readonly name: string;
  readonly value: unknown;
  readonly keys: readonly (readonly [string, unknown])[] | undefined;
}

/** Read once for all items that it is compared with. */
function listElement(name: string): ListElement {
  const value: unknown = JSON.parse(name.slice(2));
  const keys = name.startsWith("k:") && isJsonObject(value) ? Object.entries(value) : undefined;
  return { name, value, keys };
}

/** Keys that the item leaves out have their defaults, which are not known here: they are passed over. */
function isElementOf({ name, value, keys }: ListElement, item: unknown): boolean {
  if (name.startsWith("v:")) return jsonEqual(value, item);
  if (keys === undefined || !isJsonObject(item)) return false;
  return keys.every(([key, wanted]) => item[key] === undefined || jsonEqual(item[key], wanted));
}

function elementsOf(fields: JsonObject): readonly string[] {
  return Object.keys(fields).filter((element) => element !== ".");
}
