/** Formats the position of a decoding error in the words of Go's messages. */
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
  const { struct, fields } = fieldsOn(root, path);
  const isNumber = ["int32", "int64", "float"].includes(found.schema.type);
  const what = goValueName(found.value, isNumber);
  const place = fields.length === 0 ? "value" : `struct field ${struct}.${fields.join(".")}`;
  return `json: cannot unmarshal ${what} into Go ${place} of type ${goTypeName(found.schema)}`;
}

function fieldsOn(
  root: StructSchema,
  path: Path,
): { readonly struct: string; readonly fields: readonly string[] } {
  const fields: string[] = [];
  let struct = root.name;
  let schema: Schema | undefined = root;
  for (const step of path) {
    const owner: Schema | undefined = schema?.type === "either" ? schema.struct : schema;
    if (owner?.type === "struct" && typeof step === "string") {
      struct = owner.name;
      fields.push(step);
    }
    schema = schema === undefined ? undefined : childSchema(schema, step);
  }
  return { struct, fields };
}

/** Named string types appear as `string`: the facts do not contain their names. */
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
