/** The conformance tests of the CEL language, for the parts in Kubernetes' environment. */
import { isDeepStrictEqual } from "node:util";
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { describe, expect, test } from "vitest";
import { parseDuration } from "../values/time.ts";
import { CelCompileError, CelEvaluationError } from "./cel-error.ts";
import { itemsOf } from "./cel-json-value.ts";
import { instantOf } from "./instant.ts";
import { compileCel } from "./program.ts";
import { type CelType, DYN, listOf, mapOf, namedType, optionalOf, typeOf, typeText } from "./type.ts";
import {
  Bytes,
  CelList,
  CelMap,
  type CelValue,
  Duration,
  keyText,
  Optional,
  PlainList,
  PlainMap,
  Timestamp,
  TypeValue,
  Uint,
} from "./value.ts";

type Json = Readonly<Record<string, unknown>>;

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly Case[];
}

interface Case {
  readonly original: {
    readonly name: string;
    readonly expr: string;
    readonly value?: Json;
    readonly evalError?: Json;
    readonly typeEnv?: readonly Json[];
    readonly bindings?: Readonly<Record<string, { readonly value?: Json }>>;
    readonly container?: string;
    readonly disableCheck?: boolean;
    readonly typedResult?: Json;
  };
  readonly type?: string;
}

/** Excluded: protocol buffers, and extensions that Kubernetes does not have. */
const ABSENT = new Set([
  "block_ext",
  "dynamic",
  "encoders_ext",
  "enums",
  "math_ext",
  "proto2",
  "proto2_ext",
  "proto3",
  "unknowns",
  "wrappers",
]);
/** Protocol buffer messages within other suites. */
const MESSAGES =
  /TestAllTypes|NestedTestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)|objectValue|enumValue|messageType|wellKnown":"ANY|wrapper/;

const TIMES = /"@type":"type.googleapis.com\/google.protobuf.(?:Timestamp|Duration)"/;

function* casesOf(suite: Suite): Iterable<Case> {
  yield* (suite.tests ?? []).filter(({ original }) => !DIFFERENT.has(original.name));
  for (const inner of suite.suites ?? []) yield* casesOf(inner);
}

/** Checker errors about lists and maps with items of several types, which Kubernetes refuses. */
const MIXED = /^expected type '.*' but found '.*'$/;
const DIFFERENT = new Set([
  // A list of an optional value and null has optional items here, and null items in cel-go.
  "null_assignable_to_abstract_parameter_candidate",
  // cel-go skips this one too: the last of equal keys counts.
  "map_value_repeat_key",
  // cel-go skips these too: a start beyond the end finds nothing and is no error.
  "indexof_out_of_range",
  "lastindexof_out_of_range",
  // Kubernetes has version 2 of the strings extension; these tests are about the formats of version 4.
  "scientific notation formatting clause",
  "scientific notation formatting clause in a string variable",
  "default precision for scientific notation",
  "dyntype support for scientific notation",
  "positive infinity support for scientific notation",
  "negative infinity support for scientific notation",
  "positive infinity support for fixed-point",
  "negative infinity support for fixed-point",
  "NaN support for decimal",
  "positive infinity support for decimal",
  "negative infinity support for decimal",
  "list support for string",
  "map support for string",
  "map support (all key types)",
  "dyntype NaN/infinity support",
  "dyntype support for lists",
  "dyntype support for maps",
]);

function typeFrom(json: Json): CelType {
  if ("primitive" in json)
    return namedType(
      { INT64: "int", UINT64: "uint", BOOL: "bool", DOUBLE: "double", STRING: "string", BYTES: "bytes" }[
        String(json["primitive"])
      ] ?? "dyn",
    );
  if ("wellKnown" in json) return namedType(String(json["wellKnown"]).toLowerCase());
  if ("listType" in json) return listOf(typeFrom((json["listType"] as Json)["elemType"] as Json));
  if ("mapType" in json) {
    const { keyType, valueType } = json["mapType"] as { keyType: Json; valueType: Json };
    return mapOf(typeFrom(keyType), typeFrom(valueType));
  }
  if ("type" in json) return typeOf(typeFrom(json["type"] as Json));
  if ("abstractType" in json) {
    const { parameterTypes = [] } = json["abstractType"] as { parameterTypes?: Json[] };
    return optionalOf(typeFrom(parameterTypes[0] ?? {}));
  }
  return "null" in json ? namedType("null") : DYN;
}

function valueFrom(json: Json): CelValue {
  if ("int64Value" in json) return BigInt(json["int64Value"] as string);
  if ("uint64Value" in json) return new Uint(BigInt(json["uint64Value"] as string));
  if ("doubleValue" in json) return Number(json["doubleValue"]);
  if ("stringValue" in json) return json["stringValue"] as string;
  if ("boolValue" in json) return json["boolValue"] as boolean;
  if ("bytesValue" in json) return new Bytes(Buffer.from(json["bytesValue"] as string, "base64"));
  if ("typeValue" in json) return new TypeValue(json["typeValue"] as string);
  if ("listValue" in json)
    return new PlainList(
      (((json["listValue"] as Json)["values"] as Json[] | undefined) ?? []).map(valueFrom),
    );
  if ("mapValue" in json) {
    const entries = ((json["mapValue"] as Json)["entries"] as { key: Json; value: Json }[] | undefined) ?? [];
    return new PlainMap(
      new Map(
        entries.map(({ key, value }) => [keyText(valueFrom(key)) ?? "", [valueFrom(key), valueFrom(value)]]),
      ),
    );
  }
  return null;
}

/** A form in which equal values are equal, including their types. */
function plain(value: CelValue): unknown {
  if (value instanceof CelList) return { list: itemsOf(value).map(plain) };
  if (value instanceof CelMap)
    return {
      map: [...value.keys()]
        .map((key) => [JSON.stringify(plain(key)), plain(value.find(key) ?? null)])
        .toSorted((left, right) => JSON.stringify(left).localeCompare(JSON.stringify(right))),
    };
  if (value instanceof Uint) return { uint: String(value.value) };
  if (value instanceof Bytes) return { bytes: Buffer.from(value.data).toString("hex") };
  if (value instanceof TypeValue) return { type: value.name };
  if (value instanceof Timestamp || value instanceof Duration) return { [value.tag]: String(value.ns) };
  if (value instanceof Optional) return { optional: value.value === undefined ? "none" : plain(value.value) };
  return plainScalar(value);
}

function plainScalar(value: CelValue): unknown {
  if (typeof value === "bigint") return { int: String(value) };
  return typeof value === "number" ? { double: Number.isNaN(value) ? "NaN" : value } : value;
}

function isWanted({ original }: Case): boolean {
  const declared = JSON.stringify(original.typeEnv ?? []);
  if (original.disableCheck === true || (original.container ?? "") !== "" || declared.includes('"function"'))
    return false;
  const object = JSON.stringify(original.value ?? {});
  return TIMES.test(object) || !MESSAGES.test(JSON.stringify(original));
}

type Outcome = { readonly value: unknown } | { readonly error: string } | { readonly isMixed: true };

function outcome({ original }: Case): Outcome {
  const variables = new Map(
    (original.typeEnv ?? [])
      .filter((declared) => "ident" in declared)
      .map((declared) => [String(declared["name"]), typeFrom((declared["ident"] as { type: Json }).type)]),
  );
  const bindings = Object.fromEntries(
    Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, valueFrom(value ?? {})]),
  );
  try {
    const program = compileCel(original.expr, { variables, bindings: "allowed" });
    if (original.typedResult !== undefined) return { value: typeText(program.type) };
    return { value: plain(program.evaluate(bindings, { budget: 1_000_000 })) };
  } catch (error) {
    const isMixed =
      error instanceof CelCompileError &&
      error.issues.length > 0 &&
      error.issues.every(({ message }) => MIXED.test(message));
    if (isMixed) return { isMixed };
    if (error instanceof CelCompileError || error instanceof CelEvaluationError)
      return { error: error.message };
    throw error;
  }
}

function expected({ original, type }: Case): unknown {
  if (original.typedResult !== undefined) return type;
  const object = (original.value?.["objectValue"] ?? {}) as Json;
  const kind = (object["@type"] ?? "") as string;
  if (kind.endsWith("Timestamp"))
    return { "google.protobuf.Timestamp": String(instantOf(String(object["value"])) ?? 0n) };
  if (kind.endsWith("Duration"))
    return { "google.protobuf.Duration": String(parseDuration(String(object["value"]))) };
  return plain(original.value === undefined ? true : valueFrom(original.value));
}

/** One sentence for each failing case. */
function findMistakes(found: Case): readonly string[] {
  const { evalError, expr } = found.original;
  const result = outcome(found);
  if ("isMixed" in result) return [];
  if (evalError !== undefined) return "error" in result ? [] : [`${expr} has a value`];
  if ("error" in result) return [`${expr} fails: ${result.error}`];
  return isDeepStrictEqual(result.value, expected(found))
    ? []
    : [`${expr} is ${JSON.stringify(result.value)}, not ${JSON.stringify(expected(found))}`];
}

const SUITES = ((tests as Suite).suites ?? [])
  .filter(({ name }) => !ABSENT.has(name))
  .map((suite) => ({ name: suite.name, cases: [...casesOf(suite)].filter(isWanted) }));

describe("the conformance tests of the language", () => {
  test.each(SUITES)("of $name pass", ({ cases }) => {
    expect(cases.flatMap(findMistakes)).toEqual([]);
  });

  test("run in more than 1240 cases", () => {
    const cases = SUITES.flatMap((suite) => suite.cases);
    const mixed = cases.filter((found) => "isMixed" in outcome(found));

    expect(cases.length - mixed.length).toBeGreaterThan(1240);
  });
});
