/**
 * Schemas of one's own kinds, written once in TypeScript: `t.object({ target: t.number({ maximum: 30 }).default(20) })`. The same text
 * gives the structural schema that the server checks objects against and the TypeScript type of what passed.
 */
import type { JSONSchemaProps, ValidationRule } from "../../api/generated/types/apiextensions-v1.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";

type Presence = "required" | "optional";

/** What an object looks like that the server has taken: defaults are filled in, and only what is optional may be missing. */
export type TypeOf<P> = P extends SchemaPart<infer T, Presence> ? T : never;

/** Immutable: each method answers a new part. */
export class SchemaPart<T, P extends Presence = "required"> {
  /** Ties the TypeScript type to the part; never set. */
  declare readonly type: T;
  readonly schema: JSONSchemaProps;
  readonly presence: P;

  constructor(schema: JSONSchemaProps, presence: P) {
    this.schema = schema;
    this.presence = presence;
  }

  /** May be missing. */
  optional(): SchemaPart<T, "optional"> {
    return new SchemaPart<T, "optional">(this.schema, "optional");
  }

  /** May be left out by whoever writes it; is always there for whoever reads it. */
  default(value: T): SchemaPart<T> {
    return new SchemaPart<T>({ ...this.schema, default: value }, "required");
  }

  nullable(): SchemaPart<T | null, P> {
    return new SchemaPart<T | null, P>({ ...this.schema, nullable: true }, this.presence);
  }

  /** Shown by `kubectl explain`. */
  describe(description: string): SchemaPart<T, P> {
    return new SchemaPart<T, P>({ ...this.schema, description }, this.presence);
  }

  /** A rule in CEL over `self` and, for changes, `oldSelf`. */
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

/** Spelled out, so that editors show the fields and not how they came about. */
type Shown<T> = { readonly [Name in keyof T]: T[Name] } & {};

export type ObjectType<F extends Fields> = Shown<
  { readonly [Name in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[Name]> } & {
    readonly [Name in OptionalNames<F>]?: TypeOf<F[Name]>;
  }
>;

export interface TextOptions {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** RE2. */
  readonly pattern?: string;
  /** `date-time`, `duration`, `ipv4`, `uuid` … */
  readonly format?: string;
}

export interface NumberOptions {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
}

export interface ArrayOptions {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** What items are to each other when several writers apply the list: `set` of values, or `map` by these keys. Else one value. */
  readonly set?: boolean;
  readonly keys?: readonly string[];
}

export interface RecordOptions {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

export interface ObjectOptions {
  /** Fields that are not named are kept instead of dropped. */
  readonly keepsUnknown?: boolean;
}

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
  /** Any JSON value, kept as it is. */
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
  /** The conditions that status of most kinds has, told apart by their type. */
  conditions: () => part<readonly Condition[]>(t.array(condition(), { keys: ["type"] }).schema).optional(),
} as const;

function part<T>(schema: JSONSchemaProps): SchemaPart<T> {
  return new SchemaPart<T>(schema, "required");
}

function objectSchema(fields: Fields, { keepsUnknown }: ObjectOptions): JSONSchemaProps {
  const named = Object.entries(fields);
  // What has a default is there by the time it is looked for.
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

/** As the API conventions have it. */
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
