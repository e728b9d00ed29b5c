/** Shared parameters of OpenAPI v2 documents. Operations refer to them by name and a hash of the content. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { publishedName, reference } from "./definition-name.ts";
import { PARAMETERS_OF, PATH_PARAMETERS, PROXY_PARAMETERS } from "./parameters.ts";
import type { Parameter } from "./parameters.ts";
import { SPECIAL } from "./special-definition.ts";

/** Clients look for the last two at each operation. The first has another description for each kind. */
const NEVER_SHARED: ReadonlySet<string> = new Set(["name", "dryRun", "fieldValidation"]);

const TEXTS: Readonly<Record<string, string>> = {
  allowWatchBookmarks: "Asks for events of type BOOKMARK, which report the progress of the watch.",
  continue: "Token of an earlier response; the list continues after the last object in it.",
  fieldManager: "Name under which the written fields are owned.",
  fieldSelector: "Restricts the objects by their fields.",
  force: "Takes fields over from other managers instead of reporting a conflict.",
  gracePeriodSeconds: "Seconds before the object is deleted; zero deletes at once.",
  ignoreStoreReadErrorWithClusterBreakingPotential:
    "Deletes an unreadable object without the checks that need its content.",
  labelSelector: "Restricts the objects by their labels.",
  limit: "Maximum number of objects in the response.",
  namespace: "Namespace of the objects.",
  orphanDependents: "Deprecated: use propagationPolicy. Leaves the dependents of the object.",
  path: "Path of the request behind the proxy.",
  pretty: "If true, the response is indented for people.",
  propagationPolicy: "Handling of the dependents: Orphan, Background or Foreground.",
  resourceVersion: "Version that the response must have reached.",
  resourceVersionMatch: "Meaning of resourceVersion: Exact or NotOlderThan.",
  sendInitialEvents: "Begins a watch with the existing objects.",
  timeoutSeconds: "Longest duration of the request.",
  watch: "Watches instead of listing.",
};

/** The parameter at an operation or path: a reference or the parameter itself. */
export function placedParameter(parameter: Parameter): JsonObject {
  return placed(parameterDocument(parameter));
}

export function placedBody(body: string, isRequired: boolean): JsonObject {
  return placed(bodyDocument(body, isRequired));
}

/** Keyed by the name in the document. */
export function sharedParameters(): JsonObject {
  const lists: readonly (readonly Parameter[])[] = [PARAMETERS_OF, PATH_PARAMETERS, PROXY_PARAMETERS].flatMap(
    (table) => Object.values<readonly Parameter[]>(table),
  );
  const parameters = lists.flatMap((list) => list.map(parameterDocument));
  const bodies = [
    bodyDocument(publishedName("meta.v1.DeleteOptions"), false),
    bodyDocument(SPECIAL.patch, true),
  ];
  const named = [...parameters, ...bodies].filter(isShared).map((each) => [sharedName(each), each] as const);
  return Object.fromEntries(named.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function parameterDocument({ name, type, in: place }: Parameter): JsonObject {
  const description = NEVER_SHARED.has(name) ? undefined : TEXTS[name];
  return {
    ...(description !== undefined && { description }),
    in: place,
    name,
    ...(place === "path" && { required: true }),
    type,
    uniqueItems: true,
  };
}

function bodyDocument(body: string, isRequired: boolean): JsonObject {
  return {
    in: "body",
    name: "body",
    ...(isRequired && { required: true }),
    schema: reference(body, "v2"),
  };
}

function placed(document: JsonObject): JsonObject {
  return isShared(document) ? { $ref: `#/parameters/${sharedName(document)}` } : document;
}

/** A body parameter is shared if it is the same for all kinds. */
function isShared({ in: place, name, schema }: JsonObject): boolean {
  if (place !== "body") return !NEVER_SHARED.has(String(name));
  const ref = isJsonObject(schema) ? String(schema["$ref"]) : "";
  return ref.startsWith("#/definitions/io.k8s.apimachinery");
}

/** Names by the text of the document: a few dozen, which thousands of operations refer to. */
const NAMES = new Map<string, string>();

function sharedName(document: JsonObject): string {
  const text = JSON.stringify(document);
  const name = NAMES.get(text) ?? `${String(document["name"])}-${hashOf(text)}`;
  NAMES.set(text, name);
  return name;
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** First 48 bits of the FNV-1 hash, shortened as upstream does. */
function hashOf(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, hash * FNV_PRIME) ^ BigInt(byte);
  return Buffer.from(hash.toString(16).padStart(16, "0"), "hex").subarray(0, 6).toString("base64url");
}
