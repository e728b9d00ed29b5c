/** Formats the position of a decoding error in the words of Go's messages. */
import { TYPE_NAMES_TEXT } from "../generated/type-names.ts";
import { goValueName } from "./normal-scalar.ts";
import { type ScalarType, type Schema, type StructSchema, childSchema } from "./schema.ts";

type Path = readonly (string | number)[];

/** The path of a key below `path`: `spec.containers[0].foo`. */
export function pathText(path: Path, key: string): string {
  let text = "";
  for (const step of [...path, key]) {
    if (typeof step === "number") text += `[${String(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/**
 * The message for a value of the wrong type. Go names the struct and the path of fields without indices and map keys:
 * `Go struct field PodSpec.spec.template.spec.containers of type v1.Container`.
 */
export function mismatchText(
  root: StructSchema,
  path: Path,
  found: { readonly schema: Schema; readonly value: unknown },
): string {
  const { struct, fields, declared } = fieldsOn(root, path);
  const isNumber = ["int32", "int64", "float"].includes(found.schema.type);
  const what = goValueName(found.value, isNumber);
  const place = fields.length === 0 ? "value" : `struct field ${struct}.${fields.join(".")}`;
  return `json: cannot unmarshal ${what} into Go ${place} of type ${findName(declared) ?? goTypeName(found.schema)}`;
}

/** The field that declares the type of a value, and how many lists and maps of the field enclose the value. */
interface Declared {
  readonly definition: string;
  readonly field: string;
  readonly depth: number;
}

interface Place {
  readonly struct: string;
  readonly fields: readonly string[];
  readonly declared: Declared | undefined;
}

function fieldsOn(root: StructSchema, path: Path): Place {
  const fields: string[] = [];
  let struct = root.name;
  let declared: Declared | undefined;
  let schema: Schema | undefined = root;
  for (const step of path) {
    const owner: Schema | undefined = schema?.type === "either" ? schema.struct : schema;
    if (owner?.type === "struct" && typeof step === "string") {
      struct = owner.name;
      fields.push(step);
      declared = { definition: owner.definition, field: step, depth: 0 };
    } else if (declared !== undefined) {
      declared = { ...declared, depth: declared.depth + 1 };
    }
    schema = schema === undefined ? undefined : childSchema(schema, step);
  }
  return { struct, fields, declared };
}

/** A list or map type of Go, with its items. */
const ENCLOSING = /^(?:\[\]|map\[[^\]]*\])(.*)$/;

/** Go's name of the type, such as `v1.PodPhase`; undefined where the schema implies the name. */
function findName(declared: Declared | undefined): string | undefined {
  if (declared === undefined) return undefined;
  const start = `\n${TYPE_NAMES_TEXT}`.indexOf(`\n${declared.definition} `);
  if (start < 0) return undefined;
  const [line = ""] = TYPE_NAMES_TEXT.slice(start).split("\n", 1);
  const names = JSON.parse(line.slice(declared.definition.length + 1)) as Readonly<Record<string, string>>;
  let name = names[declared.field];
  for (let level = 0; level < declared.depth; level++) name = name?.match(ENCLOSING)?.[1];
  return name;
}

const SCALAR_NAMES: Readonly<Record<ScalarType, string>> = {
  string: "string",
  int32: "int32",
  int64: "int64",
  float: "float64",
  boolean: "bool",
  bytes: "[]uint8",
  quantity: "resource.Quantity",
  time: "v1.Time",
  microTime: "v1.MicroTime",
  intOrString: "intstr.IntOrString",
  raw: "runtime.RawExtension",
};

function goTypeName(schema: Schema): string {
  if (schema.type === "struct") return qualifiedName(schema);
  if (schema.type === "either") return qualifiedName(schema.struct);
  if (schema.type === "list") return `[]${goTypeName(schema.items)}`;
  if (schema.type === "map") return `map[string]${goTypeName(schema.values)}`;
  return SCALAR_NAMES[schema.type];
}

/** Go qualifies a type with the last part of its package: `v1.Container`. */
function qualifiedName({ definition }: StructSchema): string {
  return definition.split(".").slice(-2).join(".");
}
