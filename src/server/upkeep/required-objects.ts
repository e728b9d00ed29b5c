/** A chore maintains objects that the server requires. It compares the current state with the wanted one and ignores past events. */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { BootStep } from "./boot-steps.ts";
import type { Mould } from "./object-template.ts";

export interface RequiredObjects {
  readonly name: string;
  /** Boot steps in the health checks that wait for its first run. */
  readonly boot?: readonly BootStep[];
  readonly objects: readonly RequiredObject[];
  /** Objects of a resource that are obsolete and get deleted. */
  readonly strays?: Strays;
  /** Prefix of other keys that determine the objects. A change of one of them runs the chore again. */
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
  readonly isGuest?: boolean;
  /** Manifest to create a missing object with. It omits the name and namespace. */
  manifest(): JsonObject;
  /**
   * Template with the bytes that a create of `manifest` would store. It speeds up the start for kinds with many objects.
   * A test compares the two.
   */
  readonly born?: Mould;
  /** Returns the live object with the fields that the server requires. Other fields stay as they are. */
  corrected?(live: ApiObject): JsonObject;
  /** Same for the status. */
  correctedStatus?(live: ApiObject): JsonObject;
  /**
   * Whether another server may have written this object. The server claims it at the start and then leaves it alone. Otherwise
   * servers with one store would overwrite each other forever.
   */
  isOthers?(live: ApiObject): boolean;
  /** Whether the live object cannot be updated to the wanted one. It is then deleted and created again. */
  isReplaced?(live: ApiObject): boolean;
}

export interface Strays {
  readonly resource: StoredResource;
  isStray(object: ApiObject): boolean;
}
