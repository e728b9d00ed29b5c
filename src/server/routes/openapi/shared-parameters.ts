/** Parameters of the older version of OpenAPI that stand once in the document, and are referred to by the name and a hash of what they say. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { publishedName, reference } from "./definition-name.ts";
import { PARAMETERS_OF, PATH_PARAMETERS, PROXY_PARAMETERS } from "./parameters.ts";
import type { Parameter } from "./parameters.ts";
import { SPECIAL } from "./special-definition.ts";

/** Clients look for the last two at each operation; the description of the first is another one for each kind. */
const NEVER_SHARED: ReadonlySet<string> = new Set(["name", "dryRun", "fieldValidation"]);

const TEXTS: Readonly<Record<string, string>> = {
  allowWatchBookmarks: "Asks for events of type BOOKMARK, which tell how far a watch has come.",
  continue: "Token of an earlier answer: the list goes on behind its last object.",
  fieldManager: "Name under which the written fields are owned.",
  fieldSelector: "Restricts the objects by their fields.",
  force: "Takes fields over from other managers instead of reporting a conflict.",
  gracePeriodSeconds: "Seconds before the object is deleted; zero deletes at once.",
  ignoreStoreReadErrorWithClusterBreakingPotential:
    "Deletes an object that cannot be read, without the checks that would need it.",
  labelSelector: "Restricts the objects by their labels.",
  limit: "Maximum number of objects in the answer.",
  namespace: "Namespace of the objects.",
  orphanDependents: "Deprecated: use propagationPolicy. Leaves the dependents of the object.",
  path: "Path of the request behind the proxy.",
  pretty: "If true, the answer is written for people.",
  propagationPolicy: "What becomes of the dependents: Orphan, Background or Foreground.",
  resourceVersion: "Version that the answer must have reached.",
  resourceVersionMatch: "How resourceVersion is meant: Exact or NotOlderThan.",
  sendInitialEvents: "Begins a watch with the objects that are there.",
  timeoutSeconds: "Longest duration of the request.",
  watch: "Watches instead of listing.",
};

/** As it stands at an operation or a path: a reference, or the parameter itself. */
export function placedParameter(parameter: Parameter): JsonObject {
  return placed(parameterDocument(parameter));
}

export function placedBody(body: string, isRequired: boolean): JsonObject {
  return placed(bodyDocument(body, isRequired));
}

/** By their names in the document. */
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

/** What is sent is shared where it is the same for all kinds. */
function isShared({ in: place, name, schema }: JsonObject): boolean {
  if (place !== "body") return !NEVER_SHARED.has(String(name));
  const ref = isJsonObject(schema) ? String(schema["$ref"]) : "";
  return ref.startsWith("#/definitions/io.k8s.apimachinery");
}

function sharedName(document: JsonObject): string {
  return `${String(document["name"])}-${hashOf(JSON.stringify(document))}`;
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** The first 48 bits of FNV-1, as upstream shortens them. */
function hashOf(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, hash * FNV_PRIME) ^ BigInt(byte);
  return Buffer.from(hash.toString(16).padStart(16, "0"), "hex").subarray(0, 6).toString("base64url");
}
