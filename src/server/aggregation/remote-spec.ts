/** Extracts the OpenAPI v2 documents of extension servers and merges them into the document of this server. */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";

/** Paths of one group version and the definitions that they need. */
export interface RemoteSpec {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

const PREFIX = "#/definitions/";
const PARAMETERS = "#/parameters/";
/** Deeper than any real schema. A deeper document is left out as a whole. */
const DEPTH_MAX = 200;

/** Undefined when the document does not contain the version or is malformed. */
export function remoteSpec(
  document: unknown,
  { group, version }: { readonly group: string; readonly version: string },
): RemoteSpec | undefined {
  if (!isJsonObject(document) || isDeeper(document, DEPTH_MAX)) return undefined;
  const root = `/apis/${group}/${version}/`;
  const paths = Object.entries(membersOf(document, "paths")).filter(([path]) => path.startsWith(root));
  if (paths.length === 0) return undefined;
  const own = withParameters(copied(Object.fromEntries(paths)), shortParameters(document)) as JsonObject;
  return { paths: own, definitions: reachable(own, membersOf(document, "definitions")) };
}

function membersOf(value: JsonObject, name: string): JsonObject {
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(found) ? found : {};
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** Copies the value without null members, which have no meaning in a schema. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(copied);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, copied(member)]));
}

/** Longer parameters are left out: with many references they would make a small document large. */
const PARAMETER_LENGTH_MAX = 4096;

/** Inlines the document's shared parameters, so that names of two documents cannot clash. */
function withParameters(value: unknown, parameters: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withParameters(item, parameters));
    return items.filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  const { $ref: ref } = value;
  if (typeof ref === "string" && ref.startsWith(PARAMETERS))
    return parameters.get(ref.slice(PARAMETERS.length));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withParameters(member, parameters)]),
  );
}

function shortParameters(document: JsonObject): ReadonlyMap<string, unknown> {
  const all = Object.entries(membersOf(document, "parameters"));
  const short = all.filter(([, parameter]) => JSON.stringify(parameter).length <= PARAMETER_LENGTH_MAX);
  return new Map(short.map(([name, parameter]) => [name, copied(parameter)]));
}

function reachable(from: JsonObject, all: JsonObject): JsonObject {
  const found = new Map<string, unknown>();
  const waiting = [...references(from)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name) || !Object.hasOwn(all, name)) continue;
    const definition = copied(all[name]);
    found.set(name, definition);
    waiting.push(...references(definition));
  }
  return Object.fromEntries(found);
}

function* references(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === "$ref" && typeof member === "string" && member.startsWith(PREFIX)) {
      yield member.slice(PREFIX.length);
    } else yield* references(member);
  }
}

/**
 * Merges all documents. A definition with a known name is taken from this server. When two servers' definitions differ, the later one
 * is renamed, as upstream does.
 */
export function mergedSpecs(specs: readonly RemoteSpec[], known: ReadonlySet<string>): RemoteSpec {
  const paths = new Map<string, unknown>();
  const definitions = new Map<string, unknown>();
  for (const spec of specs) {
    const names = newNames(spec.definitions, known, definitions);
    for (const [name, definition] of Object.entries(spec.definitions)) {
      const as = names.get(name) ?? name;
      if (!known.has(as)) definitions.set(as, renamed(definition, names));
    }
    for (const [path, item] of Object.entries(spec.paths)) {
      if (!paths.has(path)) paths.set(path, renamed(item, names));
    }
  }
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions) };
}

/** New names for the definitions that need one. */
function newNames(
  own: JsonObject,
  known: ReadonlySet<string>,
  taken: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(own)) {
    const other = taken.get(name);
    if (known.has(name) || other === undefined || JSON.stringify(other) === JSON.stringify(definition))
      continue;
    let number = 2;
    while (taken.has(`${name}_v${number}`)) number++;
    names.set(name, `${name}_v${number}`);
  }
  return names;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const to =
        name === "$ref" && typeof member === "string" ? names.get(member.slice(PREFIX.length)) : undefined;
      return [name, to === undefined ? renamed(member, names) : PREFIX + to];
    }),
  );
}
