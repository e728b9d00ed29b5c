/**
 * Rules of a kind beyond its schema: defaults, fields that the server sets, validation, updates, table cells.
 * Each kind has one file with its rules. The server calls them and knows no kind by name. All rules get
 * objects in normal form, in the version for which they are registered.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { FieldError, FieldErrors } from "../../api/errors/field-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ColumnFacts } from "../../api/schema/resource-facts.ts";
import type { NameRule } from "../../api/values/names.ts";
import type { MetadataPart } from "./metadata-parts.ts";

export type { ApiObject };

/** A mutable object: rules may change it at any depth. No other code holds a reference to it. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? Draft<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Draft<T[Key]> }
    : T;

/** User of the request, from authentication. */
export interface Requester {
  readonly name: string;
  /** Empty for users without a uid. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface RuleContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly user: Requester;
  /** Collects warnings that only `prepare…` and `validate…` rules can find. Absent for writes of the server itself. */
  readonly notes?: { warn(text: string): void };
}

export interface KindRules<T extends ApiObject = ApiObject> {
  /** Validates names; a DNS subdomain unless given. */
  readonly nameRule?: NameRule;

  /** Sets absent fields. Also runs on the result of every patch, so it must be idempotent. */
  defaults?(draft: Draft<T>): void;

  /**
   * Sets what the server decides, before validation. Metadata (uid, times, generation) is done by the server; status is
   * already dropped, unless `keepsStatus`. Members of the draft, its metadata and its spec are replaced, never changed in place: the draft
   * before it says which fields the client owns.
   */
  prepareCreate?(draft: Draft<T>, context: RuleContext): void;
  /** The same for an update of the main resource; the status of `previous` is already restored. */
  prepareUpdate?(draft: Draft<T>, previous: T, context: RuleContext): void;
  /**
   * The same for the status subresource. All fields outside status are already restored, except those that
   * upstream lets clients change.
   */
  prepareStatus?(draft: Draft<T>, previous: T, context: RuleContext): void;

  /** Reports every error. Runs on create, and on update before `validateUpdate`. */
  validate?(object: T, errors: FieldErrors): void;
  /** Reports errors that matter only for new objects. */
  validateCreate?(object: T, errors: FieldErrors): void;
  validateUpdate?(next: T, previous: T, errors: FieldErrors): void;
  /**
   * Whether an update may keep this error, when `validate` reports the same error for the previous object.
   */
  tolerates?(error: FieldError): boolean;
  validateStatus?(next: T, previous: T, errors: FieldErrors): void;

  /** Texts for `Warning` headers. */
  warnings?(object: T, previous: T | undefined): readonly string[];

  /**
   * Many objects have equal specs, which then share one frozen object. `defaults` may only read and change
   * the spec.
   */
  readonly repeatsSpec?: boolean;

  /** An object is removed this long after its last write (Event). */
  readonly ttlSeconds?: number;
  /** Objects only tell what happened. A full store refuses them first, even those of the cluster's own components (Event). */
  readonly isRecord?: boolean;
  /** Each owner renews its object all the time to show that it works, and needs one to work at all (Lease). */
  readonly isHeartbeat?: boolean;

  /** Keeps the status that a create sends (Node). */
  readonly keepsStatus?: boolean;
  /** Metadata that a write of the status cannot change. */
  readonly statusKeeps?: readonly MetadataPart[];
  /** Whether a change outside the spec starts a new generation (Deployment: annotations). */
  isNewGeneration?(next: T, previous: T): boolean;

  /**
   * Grace period of a deletion in seconds, given the requested one. Kinds without this rule are deleted at
   * once.
   */
  gracePeriodSeconds?(object: T, asked: number | undefined): number | undefined;

  /**
   * Whether the object itself blocks its deletion, besides finalizers and grace period (Namespace:
   * `spec.finalizers`).
   */
  isHeld?(object: T): boolean;
  /** The first delete request adds this finalizer. */
  readonly deletionFinalizer?: string;
  /** The kind owns no objects: even a foreground deletion waits for no dependents (Event). */
  readonly hasNoDependents?: boolean;
  /** A deletion without a propagation policy orphans the dependents (ReplicationController, Job). */
  readonly keepsDependents?: boolean;
  /** Warning for a deletion without a propagation policy. */
  readonly deletionWarning?: string;
  /** Records the delete request in the object (Namespace: its phase). */
  markDeleted?(draft: Draft<T>, now: number): void;

  /**
   * Values for field selectors besides metadata.name and metadata.namespace. Every field of `selectors.json`
   * must be present.
   */
  fields?(object: T): Readonly<Record<string, string>>;

  /** Columns of the table, where `columns.json` has none or not all for the kind. */
  readonly columns?: readonly ColumnFacts[];
  /** One cell for each column, in their order; includes Name and Age. */
  cells?(object: T, now: number): readonly (string | number | boolean | null)[];
  /** Conditions of a table row. */
  rowConditions?(object: T): readonly RowCondition[];
  /** Order of the rows, where it differs from the order of the list. */
  compareRows?(left: T, right: T): number;

  /** Access to the scale subresource, for kinds that have it. */
  readonly scale?: ScaleRules<T>;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface ScaleRules<T extends ApiObject> {
  /** Only for custom kinds: path of the replicas field, which may be absent in an object. */
  readonly replicasPath?: string;
  replicas(object: T): number | undefined;
  statusReplicas(object: T): number;
  /** Text form of the label selector. */
  selector(object: T): string;
  setReplicas(draft: Draft<T>, replicas: number): void;
}

/**
 * Converts between two versions of one resource. Input and output are in normal form; metadata stays
 * unchanged.
 */
export type Conversion = (object: JsonObject) => JsonObject;

export interface KindDefinition {
  /** Examples: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly rules: KindRules<never>;
}

/** Binds rules to the kind that they are for. */
export function defineKind<T extends ApiObject>(
  apiVersion: T["apiVersion"],
  kind: T["kind"],
  rules: KindRules<T>,
): KindDefinition {
  return { apiVersion, kind, rules };
}
