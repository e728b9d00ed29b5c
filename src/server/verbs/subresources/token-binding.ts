/** Binds a token to an object: the token becomes invalid when the object is deleted. */
import { badRequest, conflict, notFound } from "../../../api/errors/api-error.ts";
import type { BoundObjectReference } from "../../../api/generated/types/authentication-v1.ts";
import type { Pod, Secret } from "../../../api/generated/types/core-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Store } from "../../../store/store.ts";
import type { Registry } from "../../objects/registry.ts";
import { groupResource, requireStored } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import { keyOf } from "../../objects/versions.ts";

export interface TokenBindingParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
}

const RESOURCES: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"],
]);

interface Bearer {
  readonly account: ApiObject;
  readonly verbParts: TokenBindingParts;
}

/** Claims that name the bound object. Empty for a token that is valid until it expires. */
export function boundTo(
  reference: BoundObjectReference | undefined,
  { account, verbParts }: Bearer,
): JsonObject {
  const { kind = "", name = "", uid = "" } = reference ?? {};
  if (reference === undefined || (kind === "" && name === "")) return {};
  const namespace = account.metadata.namespace ?? "";
  const found = findObject(resourceOf(reference), { namespace, name }, verbParts);
  if (uid !== "" && uid !== found.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: kind }, name, why);
  }
  const claim = { [kind.toLowerCase()]: { name, uid: found.metadata.uid } };
  if (kind !== "Pod") return claim;
  checkPod(found as Pod, account);
  return { ...nodeClaim(found as Pod, verbParts), ...claim };
}

/** Tells whether the token is bound to a Secret of the service account token type. */
export function isForTokenSecret(
  { apiVersion = "", kind = "", name = "" }: BoundObjectReference = {},
  { namespace, verbParts }: { readonly namespace: string; readonly verbParts: TokenBindingParts },
): boolean {
  if (apiVersion !== "v1" || kind !== "Secret") return false;
  const secret = findObject("secrets", { namespace, name }, verbParts) as Secret;
  return secret.type === "kubernetes.io/service-account-token";
}

function resourceOf({ apiVersion = "", kind = "" }: BoundObjectReference): string {
  const resource = apiVersion === "v1" ? RESOURCES.get(kind) : undefined;
  if (resource !== undefined) return resource;
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  throw badRequest(`cannot bind token to object of type ${version}, Kind=${kind}`);
}

function findObject(
  resource: string,
  place: { readonly namespace: string; readonly name: string },
  { store, registry, versions }: TokenBindingParts,
): ApiObject {
  const stored = requireStored(registry, "", resource);
  const entry = store.view.get(keyOf(stored, place.namespace, place.name));
  if (entry === undefined) throw notFound(groupResource(stored), place.name);
  return versions.entry(entry, stored);
}

function checkPod({ spec }: Pod, { metadata }: ApiObject): void {
  if (spec.serviceAccountName === metadata.name) return;
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(metadata.name)} to pod running with different serviceaccount name.`,
  );
}

/** Claims about the pod's node, for servers that verify the token. The node may no longer exist. */
function nodeClaim({ spec }: Pod, { store, registry, versions }: TokenBindingParts): JsonObject {
  const { nodeName = "" } = spec;
  if (nodeName === "") return {};
  const nodes = requireStored(registry, "", "nodes");
  const entry = store.view.get(keyOf(nodes, "", nodeName));
  const uid = entry === undefined ? undefined : versions.entry(entry, nodes).metadata.uid;
  return { node: { name: nodeName, ...(uid !== undefined && { uid }) } };
}
