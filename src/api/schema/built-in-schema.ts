/**
 * Schemas of the built-in kinds, compiled from the generated facts on first use and then cached. A struct is parsed
 * when it is first requested, and its fields are compiled when code first reads them.
 */
import { assert } from "../../base/assert.ts";
import { KINDS_TEXT } from "../generated/kinds.ts";
import { STRUCTURES_TEXT } from "../generated/structures.ts";
import {
  type FieldOptions,
  type ListType,
  type PatchStrategy,
  type ScalarSchema,
  type ScalarType,
  type Schema,
  StructSchema,
} from "./schema.ts";

/** Kinds that exist in every group version and have one shared schema. */
const KINDS_OF_ALL: ReadonlySet<string> = new Set(["DeleteOptions", "WatchEvent"]);

const SCALARS: Readonly<Record<string, ScalarType>> = {
  s: "string",
  i: "int32",
  l: "int64",
  d: "float",
  b: "boolean",
  y: "bytes",
  q: "quantity",
  t: "time",
  u: "microTime",
  x: "intOrString",
  r: "raw",
};
const EITHER = { B: "boolean", A: "structs", S: "strings" } as const;
const JSON_SCHEMA = "apiextensions.v1.JSONSchemaProps";

/** Shared nodes of scalar types without an enum. */
const SHARED: Readonly<Record<string, ScalarSchema>> = Object.fromEntries(
  Object.entries(SCALARS).map(([letter, type]) => [letter, { type }]),
);

/** Packages where a map of quantities is a list of resources. Go rounds these up to thousandths on decoding. */
const RESOURCE_LISTS = /^(?:core|node)\./;
/** Schemas that replace the usual ones, by type in the letters of the generated facts. */
type Specials = Readonly<Record<string, Schema>>;
const IN_THOUSANDTHS: Specials = {
  "{q": { type: "map", values: { type: "quantity", isInThousandths: true }, atomic: false },
};

/** Generated form of a struct; scripts/generate-facts.mjs explains the letters. */
interface StructFacts {
  readonly f: Readonly<Record<string, FieldFacts>>;
}

/** Prefix of the facts of an atomic struct. */
const ATOMIC = '{"a":1,';

type FieldFacts = readonly [type: string, flags: string, wire: number | readonly number[], more?: MoreFacts];

interface MoreFacts {
  readonly t?: ListType;
  readonly k?: readonly string[];
  readonly p?: string;
  readonly m?: string;
  readonly a?: 0 | 1;
  readonly w?: 1;
  readonly d?: string | number | boolean;
  readonly e?: readonly string[];
}

const compiled = new Map<string, StructSchema>();
let structTexts: ReadonlyMap<string, string> | undefined;
let kinds: ReadonlyMap<string, string> | undefined;

/** The struct with this name, for example `core.v1.Pod`. An unknown name is a bug and fails an assertion. */
export function builtInStruct(definition: string): StructSchema {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const text = (structTexts ??= splitStructs()).get(definition);
  assert(text !== undefined, `the published API has no ${definition}`);
  const schema = new StructSchema({
    name: definition.slice(definition.lastIndexOf(".") + 1),
    definition,
    atomic: text.startsWith(ATOMIC),
    fields: () => fieldsOf(text, RESOURCE_LISTS.test(definition) ? IN_THOUSANDTHS : {}),
  });
  compiled.set(definition, schema);
  return schema;
}

function fieldsOf(text: string, special: Specials): readonly FieldOptions[] {
  const { f: fields } = JSON.parse(text) as StructFacts;
  return Object.entries(fields).map(([name, field]) => {
    const options = fieldOf(name, field);
    const schema = special[field[0]];
    return schema === undefined ? options : { ...options, schema };
  });
}

/** The schema of a kind. `apiVersion` is `v1` or `apps/v1`. Undefined for kinds that are not built in. */
export function findKindSchema(apiVersion: string, kind: string): StructSchema | undefined {
  const owner = KINDS_OF_ALL.has(kind) ? "v1" : apiVersion;
  const definition = definitions().get(`${owner} ${kind}`);
  return definition === undefined ? undefined : builtInStruct(definition);
}

/** Every built-in kind as `[apiVersion, kind]`. */
export function builtInKinds(): readonly (readonly [apiVersion: string, kind: string])[] {
  return [...definitions().keys()].map((key) => {
    const [apiVersion = "", kind = ""] = key.split(" ");
    return [apiVersion, kind];
  });
}

function definitions(): ReadonlyMap<string, string> {
  return (kinds ??= new Map(Object.entries(JSON.parse(KINDS_TEXT) as Readonly<Record<string, string>>)));
}

/** Each line holds one struct: its name, a blank, its facts. */
function splitStructs(): ReadonlyMap<string, string> {
  return new Map(
    STRUCTURES_TEXT.split("\n").map((line) => {
      const blank = line.indexOf(" ");
      return [line.slice(0, blank), line.slice(blank + 1)];
    }),
  );
}

function fieldOf(name: string, [type, flags, wire, more = {}]: FieldFacts): FieldOptions {
  return {
    name,
    schema: schemaOf(type, more),
    pointer: flags.startsWith("p"),
    always: flags.charAt(1) === "a",
    required: flags.endsWith("r"),
    wirePath: typeof wire === "number" ? [wire] : wire,
    patchStrategies: more.p === undefined ? [] : (more.p.split(",") as readonly PatchStrategy[]),
    mergeKey: more.m,
    defaultValue: more.d,
  };
}

function schemaOf(type: string, more: MoreFacts): Schema {
  const [letter, rest] = [type.charAt(0), type.slice(1)];
  switch (letter) {
    case "[":
      return listOf(rest, more);
    case "{":
      return { type: "map", values: schemaOf(rest, more), atomic: more.a === 1 };
    case "@": {
      const struct = builtInStruct(rest);
      return more.a === undefined ? struct : struct.withAtomic(more.a === 1);
    }
    case "A":
    case "B":
    case "S":
      return { type: "either", struct: builtInStruct(JSON_SCHEMA), other: EITHER[letter] };
    default:
      return scalarOf(letter, more);
  }
}

function listOf(items: string, more: MoreFacts): Schema {
  return {
    type: "list",
    items: schemaOf(items, more.e === undefined ? {} : { e: more.e }),
    listType: more.t ?? "atomic",
    keys: more.k ?? [],
    wrapped: more.w === 1,
  };
}

function scalarOf(letter: string, more: MoreFacts): ScalarSchema {
  if (more.e !== undefined) return { type: "string", enum: more.e };
  const shared = SHARED[letter];
  assert(shared !== undefined, `a generated type is one of the known letters, not ${letter}`);
  return shared;
}
