/**
 * Schemas of custom kinds, written once in TypeScript: `t.object({ target: t.number({ maximum: 30 }).default(20) })`.
 * They yield the structural schema that the server validates against, and the TypeScript type of valid objects.
 */
import type { JSONSchemaProps, ValidationRule } from "../../api/generated/types/apiextensions-v1.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";

type Presence = "required" | "optional";

/** Type of a value that the server has accepted: defaults are filled in, and only optional fields may be missing. */
export type TypeOf<P> = P extends SchemaPart<infer T, Presence> ? T : never;

/** Part of a schema, made by `t`. Immutable: each method returns a new part. */
export class SchemaPart<T, P extends Presence = "required"> {
  /** Carries the TypeScript type; never set at run time. */
  declare readonly type: T;
  readonly schema: JSONSchemaProps;
  readonly presence: P;

  constructor(schema: JSONSchemaProps, presence: P) {
    this.schema = schema;
    this.presence = presence;
  }

  /** The field may be missing. */
  optional(): SchemaPart<T, "optional"> {
    return new SchemaPart<T, "optional">(this.schema, "optional");
  }

  /** Writers may omit the field. Readers always find it: the server fills in the default. */
  default(value: T): SchemaPart<T> {
    return new SchemaPart<T>({ ...this.schema, default: value }, "required");
  }

  /** The value may be null. */
  nullable(): SchemaPart<T | null, P> {
    return new SchemaPart<T | null, P>({ ...this.schema, nullable: true }, this.presence);
  }

  /** Description that `kubectl explain` shows. */
  describe(description: string): SchemaPart<T, P> {
    return new SchemaPart<T, P>({ ...this.schema, description }, this.presence);
  }

  /**
   * Adds a CEL rule over `self` and, for updates, `oldSelf`. The server returns `message` when the rule is violated.
   */
  rule(rule: string, message?: string): SchemaPart<T, P> {
    const rules: readonly ValidationRule[] = [
      ...(this.schema["x-kubernetes-validations"] ?? []),
      { rule, ...(message !== undefined && { message }) },
    ];
    return new SchemaPart<T, P>({ ...this.schema, "x-kubernetes-validations": rules }, this.presence);
  }
}

export type AnyPart = SchemaPart<unknown, Presence>;
export type Fields = Readonly<Record<string, AnyPart>>;

type OptionalNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends SchemaPart<unknown, "optional"> ? Name : never;
}[keyof F];

/** Flattens the type, so that editors show the fields and not how they were computed. */
type Shown<T> = { readonly [Name in keyof T]: T[Name] } & {};

export type ObjectType<F extends Fields> = Shown<
  { readonly [Name in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[Name]> } & {
    readonly [Name in OptionalNames<F>]?: TypeOf<F[Name]>;
  }
>;

/** Constraints of `t.string`. Default: none. */
export interface TextOptions {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Regular expression in RE2 syntax. */
  readonly pattern?: string;
  /** Format of the text: `date-time`, `duration`, `ipv4`, `uuid` … */
  readonly format?: string;
}

/** Constraints of `t.number` and `t.integer`. Default: none. */
export interface NumberOptions {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
}

/** Constraints of `t.array`. Default: none, and the list is replaced as a whole. */
export interface ArrayOptions {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Server-side apply merges the list as a set of values. */
  readonly set?: boolean;
  /** Server-side apply merges the items by these fields. Takes precedence over `set`. */
  readonly keys?: readonly string[];
}

/** Constraints of `t.record`. Default: none. */
export interface RecordOptions {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** Settings of `t.object`. */
export interface ObjectOptions {
  /** Keeps fields without a schema instead of dropping them. Default: false. */
  readonly keepsUnknown?: boolean;
}

/** Builds schemas of custom kinds. */
export const t = {
  string: (options: TextOptions = {}) => part<string>({ type: "string", ...options }),
  integer: (options: NumberOptions = {}) => part<number>({ type: "integer", ...options }),
  number: (options: NumberOptions = {}) => part<number>({ type: "number", ...options }),
  boolean: () => part<boolean>({ type: "boolean" }),
  /** One of these texts. */
  enum: <const V extends readonly string[]>(...values: V) =>
    part<V[number]>({ type: "string", enum: values }),
  /** A number, or a text such as `25%`. */
  intOrString: () => part<number | string>({ "x-kubernetes-int-or-string": true }),
  /** Any JSON value, stored unchanged. */
  any: () => part<unknown>({ "x-kubernetes-preserve-unknown-fields": true }),
  array: <P extends AnyPart>(items: P, options: ArrayOptions = {}) =>
    part<readonly TypeOf<P>[]>({ type: "array", items: items.schema, ...listMarkers(options) }),
  record: <P extends AnyPart>(values: P, options: RecordOptions = {}) =>
    part<Readonly<Record<string, TypeOf<P>>>>({
      type: "object",
      additionalProperties: values.schema,
      ...options,
    }),
  object: <F extends Fields>(fields: F, options: ObjectOptions = {}) =>
    part<ObjectType<F>>(objectSchema(fields, options)),
  /** Optional list of status conditions, merged by their type. */
  conditions: () => part<readonly Condition[]>(t.array(condition(), { keys: ["type"] }).schema).optional(),
} as const;

function part<T>(schema: JSONSchemaProps): SchemaPart<T> {
  return new SchemaPart<T>(schema, "required");
}

function objectSchema(fields: Fields, { keepsUnknown }: ObjectOptions): JSONSchemaProps {
  const named = Object.entries(fields);
  // A field with a default is present whenever it is read.
  const required = named
    .filter(([, { presence, schema }]) => presence === "required" && schema.default === undefined)
    .map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(named.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    ...(keepsUnknown === true && { "x-kubernetes-preserve-unknown-fields": true }),
  };
}

function listMarkers({ set, keys, ...bounds }: ArrayOptions): JSONSchemaProps {
  if (keys !== undefined) {
    return { ...bounds, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
  }
  return set === true ? { ...bounds, "x-kubernetes-list-type": "set" } : bounds;
}

/** By the conventions of the Kubernetes API. */
function condition() {
  return t.object({
    type: t.string({ maxLength: 316 }),
    status: t.enum("True", "False", "Unknown"),
    reason: t.string({ minLength: 1, maxLength: 1024 }),
    message: t.string({ maxLength: 32_768 }),
    lastTransitionTime: t.string({ format: "date-time" }),
    observedGeneration: t.integer({ minimum: 0 }).optional(),
  });
}
