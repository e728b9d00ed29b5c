/** A chore keeps some objects as the server needs them. It looks at what is, never at what happened. */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { BootStep } from "./boot-steps.ts";
import type { Mould } from "./object-template.ts";

export interface Chore {
  readonly name: string;
  /** What it is part of in the eyes of those who ask how the server is. */
  readonly boot?: readonly BootStep[];
  readonly objects: readonly KeptObject[];
  /** Objects of a resource that nobody needs any more. */
  readonly strays?: Strays;
  /** A prefix of other keys from which the objects follow: when one of them changes, the chore looks again. */
  readonly source?: string;
  /** Prefixes that are watched instead of the keys of the objects, where those are many. */
  readonly watched?: readonly string[];
}

export interface KeptObject {
  readonly resource: StoredResource;
  /** Empty for cluster-scoped ones. */
  readonly namespace: string;
  readonly name: string;
  /** Somebody else's, which is looked after only as long as it is there. */
  readonly isGuest?: boolean;
  /** With what it is created when it is missing: everything but metadata that its place says. */
  manifest(): JsonObject;
  /**
   * Exactly what is stored when `manifest` is created, made without going the way of a write: for objects so many that a start would take
   * noticeably longer otherwise. A test compares the two.
   */
  readonly born?: Mould;
  /** What it must become, as a change to the object that is there; what is not said is left to others. */
  corrected?(live: ApiObject): JsonObject;
  /** The same for its status. */
  correctedStatus?(live: ApiObject): JsonObject;
  /**
   * Whether another server may have written it like this. Such an object is claimed at the start and then left alone, or
   * servers over one store would correct each other for ever.
   */
  isOthers?(live: ApiObject): boolean;
  /** Whether what is there cannot become what is wanted: then it is deleted, and created anew. */
  isReplaced?(live: ApiObject): boolean;
}

export interface Strays {
  readonly resource: StoredResource;
  isStray(object: ApiObject): boolean;
}
