/**
 * What structure cannot say of a kind: defaults, what a client does not decide, cross-field rules, what may change, how it
 * is shown. One file per kind fills this in; the server calls it and knows no kind by name. All rules see objects in normal
 * form (DESIGN: one normal form), in the version the rules are registered for.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { FieldError, FieldErrors } from "../../api/errors/field-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ColumnFacts } from "../../api/schema/resource-facts.ts";
import type { NameRule } from "../../api/values/names.ts";
import type { MetadataPart } from "./metadata-parts.ts";

export type { ApiObject };

/** An object that is being made: rules may change it, at any depth. Nobody else holds it. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? Draft<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Draft<T[Key]> }
    : T;

/** Whose request it is, as authentication found it. */
export interface Requester {
  readonly name: string;
  /** Empty for those who are known by name alone. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface RuleContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly user: Requester;
  /** Who hears of what can only be seen before the server sets its part; nobody where the server writes by itself. */
  readonly notes?: { warn(text: string): void };
}

export interface KindRules<T extends ApiObject = ApiObject> {
  /** How names must look; a DNS subdomain unless given. */
  readonly nameRule?: NameRule;

  /** Fills in what was left out. Also run on the result of every patch, so it must be idempotent. */
  defaults?(draft: Draft<T>): void;

  /**
   * Sets what the server decides, before validation. Metadata (uid, times, generation) is done by the server; status is
   * already dropped, unless `keepsStatus`. Members of the draft, its metadata and its spec are replaced, never changed in place: the draft
   * before it says which fields the client owns.
   */
  prepareCreate?(draft: Draft<T>, context: RuleContext): void;
  /** The same for an update of the main resource; the status of `previous` is already put back. */
  prepareUpdate?(draft: Draft<T>, previous: T, context: RuleContext): void;
  /** The same for the status subresource; everything but status (and what upstream lets through) is already put back. */
  prepareStatus?(draft: Draft<T>, previous: T, context: RuleContext): void;

  /** Reports every problem at once. Called on create, and on update before `validateUpdate`. */
  validate?(object: T, errors: FieldErrors): void;
  /** What holds for new objects only. */
  validateCreate?(object: T, errors: FieldErrors): void;
  validateUpdate?(next: T, previous: T, errors: FieldErrors): void;
  /** Whether an update may leave this wrong, when `validate` says the same of the previous object. */
  tolerates?(error: FieldError): boolean;
  validateStatus?(next: T, previous: T, errors: FieldErrors): void;

  /** Things worth a `Warning` header. */
  warnings?(object: T, previous: T | undefined): readonly string[];

  /** Many objects have equal specs, which become one; `defaults` looks at nothing but the spec, and changes nothing else. */
  readonly repeatsSpec?: boolean;

  /** Status sent with a create is kept (Node). */
  readonly keepsStatus?: boolean;
  /** What of metadata whoever writes status leaves as it is, whatever they send. */
  readonly statusKeeps?: readonly MetadataPart[];
  /** Besides spec, changes that count as a new generation (Deployment: annotations). */
  isNewGeneration?(next: T, previous: T): boolean;

  /** Grace period of a deletion, given the one that was asked for. Kinds without this rule are deleted at once. */
  gracePeriodSeconds?(object: T, asked: number | undefined): number | undefined;

  /** Whether something besides finalizers and grace period keeps a deleted object (Namespace: finalizers of its own). */
  isHeld?(object: T): boolean;
  /** Held by this finalizer from the first request for its deletion on. */
  readonly deletionFinalizer?: string;
  /** Nothing is owned by it: a deletion waits for no dependents, whatever is asked for (Event). */
  readonly hasNoDependents?: boolean;
  /** A deletion that says nothing of its dependents leaves them there (ReplicationController, Job). */
  readonly keepsDependents?: boolean;
  /** For whoever deletes it without saying what becomes of its dependents. */
  readonly deletionWarning?: string;
  /** Shows in the object that its deletion was asked for (Namespace: its phase). */
  markDeleted?(draft: Draft<T>, now: number): void;

  /** What field selectors see, besides metadata.name and metadata.namespace; every field of `selectors.json` must be there. */
  fields?(object: T): Readonly<Record<string, string>>;

  /** The columns of a table, where `columns.json` has none for the kind or not all. */
  readonly columns?: readonly ColumnFacts[];
  /** One for each column, in their order; Name and Age too. */
  cells?(object: T, now: number): readonly (string | number | boolean | null)[];
  /** What a table says of a row besides its cells. */
  rowConditions?(object: T): readonly RowCondition[];
  /** The order of the rows of a list, where it is not that of the list. */
  compareRows?(left: T, right: T): number;

  /** Where scale lives, for kinds that have it. */
  readonly scale?: ScaleRules<T>;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface ScaleRules<T extends ApiObject> {
  /** Only custom kinds: where they say how many copies they have, which they may leave open. */
  readonly replicasPath?: string;
  replicas(object: T): number | undefined;
  statusReplicas(object: T): number;
  /** In the text form of a label selector. */
  selector(object: T): string;
  setReplicas(draft: Draft<T>, replicas: number): void;
}

/** A conversion between two versions of one resource: takes and gives normal form, metadata untouched. */
export type Conversion = (object: JsonObject) => JsonObject;

export interface KindDefinition {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly rules: KindRules<never>;
}

/** Names the kind whose rules these are. */
export function defineKind<T extends ApiObject>(
  apiVersion: T["apiVersion"],
  kind: T["kind"],
  rules: KindRules<T>,
): KindDefinition {
  return { apiVersion, kind, rules };
}
