/** Objects that the server requires and maintains. It compares their state with the required one, and ignores past events. */
import type { JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { BootStep } from "./boot-steps.ts";

export interface RequiredObjects {
  readonly name: string;
  /** Boot steps in the health checks that wait for its first run. */
  readonly boot?: readonly BootStep[];
  readonly objects: readonly RequiredObject[];
  /** Objects of a resource that are obsolete and get deleted. */
  readonly obsolete?: ObsoleteObjects;
  /** Prefix of other keys that determine the objects. After a change of one of them the objects are checked again. */
  readonly source?: string;
  /** Prefixes to watch instead of the objects' own keys, when there are many objects. */
  readonly watched?: readonly string[];
}

export interface RequiredObject {
  readonly resource: StoredResource;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Whether another client owns the object. The server maintains it only while it exists. */
  readonly isOptional?: boolean;
  /** Manifest to create a missing object with. It may omit the kind, name and namespace. */
  manifest(): JsonObject;
  /** Returns the live object with the fields that the server requires. Other fields stay as they are. */
  corrected?(live: ApiObject): JsonObject;
  /** Same for the status. */
  correctedStatus?(live: ApiObject): JsonObject;
  /**
   * Whether another server may have written this object. The server claims it at the start and then leaves it alone. Otherwise
   * servers with one store would overwrite each other forever.
   */
  isOfOtherServer?(live: ApiObject): boolean;
  /** Whether the live object cannot be updated to the wanted one. It is then deleted and created again. */
  mustBeRecreated?(live: ApiObject): boolean;
}

/** The manifest with its kind, name and namespace. */
export function completeManifest(required: RequiredObject): JsonObject {
  const { resource, namespace, name } = required;
  const { apiVersion, facts } = resource;
  const manifest = required.manifest();
  const place = namespace === "" ? { name } : { name, namespace };
  const metadata = { ...(manifest["metadata"] as JsonObject | undefined), ...place };
  return { ...manifest, apiVersion, kind: facts.kind, metadata };
}

/** The required form of the object; `undefined` if the object already has it. A terminating object is recreated once it is gone. */
export function correctionOf(
  required: RequiredObject,
  live: ApiObject,
  subresource: "" | "status",
): JsonObject | undefined {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const wanted = subresource === "" ? required.corrected?.(live) : required.correctedStatus?.(live);
  return wanted === undefined || jsonEqual(wanted, live) ? undefined : wanted;
}

export interface ObsoleteObjects {
  readonly resource: StoredResource;
  isObsolete(object: ApiObject): boolean;
}
