/** Reads the parameter objects of a binding, in the version that the policy names. */
import type { ParamKind, ParamRef } from "../../../api/generated/types/admissionregistration-v1.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import { compileLabelSelector, labelsMatch } from "../../../api/selectors/label-selector.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import { isStored } from "../../objects/registry.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { Versions } from "../../objects/versions.ts";

export interface ParamParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
}

/** The policy or binding cannot be resolved. Its failure policy decides about the request. */
export class ConfigurationError extends Error {}

/** The resource of a policy's paramKind. Throws a ConfigurationError if it is not served. */
export function paramResource({ apiVersion = "", kind = "" }: ParamKind, registry: Registry): StoredResource {
  for (const groupVersion of registry.groupVersions) {
    if (apiVersionOf(groupVersion) !== apiVersion) continue;
    const facts = groupVersion.resources.find((it) => it.kind === kind && it.storage !== undefined);
    const resource =
      facts === undefined
        ? undefined
        : registry.find({ group: facts.group, version: facts.version, resource: facts.name });
    if (resource !== undefined && isStored(resource)) return resource;
  }
  throw new ConfigurationError(
    `failed to find resource referenced by paramKind: '${kindText(apiVersion, kind)}'`,
  );
}

/** The kind as Go prints it: `rules.example.com/v1, Kind=ReplicaLimit`. */
function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion}, Kind=${kind}`;
}

interface Asked {
  readonly paramRef: ParamRef | undefined;
  /** Namespace of the request. */
  readonly namespace: string;
}

/**
 * Parameter objects of a binding. `[undefined]` if the policy or the binding names none; empty if the policy is not
 * evaluated.
 */
export function collectParams(
  resource: StoredResource | undefined,
  { paramRef, namespace }: Asked,
  parts: ParamParts,
): readonly (ApiObject | undefined)[] {
  if (resource === undefined || paramRef === undefined) return [undefined];
  const found = findParams(resource, { paramRef, namespace: placeOf(resource, paramRef, namespace) }, parts);
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny")
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  return found;
}

function placeOf({ facts }: StoredResource, { namespace: own = "" }: ParamRef, namespace: string): string {
  if (!facts.namespaced) {
    if (own === "") return "";
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const place = own === "" ? namespace : own;
  if (place !== "") return place;
  throw new ConfigurationError(
    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
  );
}

function findParams(
  resource: StoredResource,
  { paramRef, namespace }: { readonly paramRef: ParamRef; readonly namespace: string },
  { store, versions }: ParamParts,
): readonly ApiObject[] {
  const view = store.accepted;
  const { name = "" } = paramRef;
  if (name !== "") {
    const entry = view.get(keyOf(resource, namespace, name));
    return entry === undefined ? [] : [shown(StoredObject.of(entry), resource, versions)];
  }
  const selector = compileLabelSelector(paramRef.selector);
  const prefix = prefixOf(resource, resource.facts.namespaced ? namespace : "");
  const found: ApiObject[] = [];
  for (const entry of view.range(prefix, prefixEnd(prefix))) {
    const stored = StoredObject.of(entry);
    if (labelsMatch(selector, stored.object.metadata.labels)) found.push(shown(stored, resource, versions));
    if (found.length > PARAMS_MAX)
      throw new ConfigurationError(`more than ${PARAMS_MAX} params found for policy binding`);
  }
  return found;
}

/** Upper bound of parameter objects; each one is an evaluation of the whole policy. */
const PARAMS_MAX = 1000;

/**
 * The object in the served version. This path is synchronous: an object that needs a conversion webhook starts the
 * call and throws. A retry finds the converted object.
 */
function shown(stored: StoredObject, resource: StoredResource, versions: Versions): ApiObject {
  const answer = versions.readyToShow([stored], resource);
  if (answer === undefined) return versions.served(stored, resource);
  // A failed conversion is reported to the retry.
  answer.catch(() => undefined);
  const { name = "" } = stored.object.metadata;
  throw new ConfigurationError(
    `${resource.facts.kind} ${name} is not converted to ${resource.apiVersion} yet`,
  );
}
