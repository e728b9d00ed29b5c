// Writes facts/kubernetes-X.Y from a folder of what Kubernetes publishes about its API: one entry a line, without prose.
// Each file comes from the published documents if the folder has them, else from a JSON file of the same name; files
// with neither stay as they are. facts/README.md says how to get the documents.
//
//   node scripts/generate-fact-files.mjs [--check] FROM [TO]
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TARGET = fileURLToPath(new URL("../facts/kubernetes-1.36", import.meta.url));
const RBAC = ["cluster-roles", "cluster-role-bindings", "controller-roles", "controller-role-bindings"];
/** Files of facts, with the depth to which values have lines of their own. */
const FILES = /** @type {Readonly<Record<string, number>>} */ ({
  "schema.json": 2,
  "enums.json": 2,
  "resources.json": 3,
  "protobuf.json": 2,
  "fields.json": 1,
  "type-names.json": 1,
  "order.json": 2,
  "strategies.json": 2,
  "columns.json": 2,
  "selectors.json": 2,
  "storage.json": 2,
  "defaults-pod.json": 2,
  ...Object.fromEntries(
    [...RBAC, "namespace-roles", "namespace-role-bindings"].map((name) => [`rbac/${name}.json`, 2]),
  ),
});

/** @typedef {null | string | number | boolean | Json[] | { [key: string]: Json }} Json */
/** @typedef {{ [key: string]: Json }} JsonObject */

/**
 * Facts that published documents give, by file.
 * @param {string} from
 * @returns {Record<string, Json>}
 */
function published(from) {
  const version = existsSync(join(from, "version")) ? readFileSync(join(from, "version"), "utf8").trim() : "";
  const openapi = documents(join(from, "openapi-v3"), ".json").map(parsed);
  const discovery = documents(join(from, "discovery"), ".json").map(parsed);
  const protos = documents(join(from, "protos"), ".proto");
  const isVersionNeeded = openapi.length + discovery.length + protos.length > 0;
  if (isVersionNeeded && version === "") throw new Error(`${from} has no file "version" such as v1.37.0`);
  const schemas = schemasOf(openapi);
  return {
    ...(openapi.length > 0 && {
      "schema.json": { kubernetes: version, definitions: mapped(schemas, compactSchema) },
      "enums.json": enumsOf(schemas),
    }),
    ...(discovery.length > 0 && {
      "resources.json": { kubernetes: version, groupVersions: groupVersionsOf(discovery) },
    }),
    ...(protos.length > 0 && {
      "protobuf.json": {
        kubernetes: version,
        magic: String.raw`k8s\0`,
        envelope: "k8s.io.apimachinery.pkg.runtime.Unknown",
        messages: messagesOf(protos),
      },
    }),
  };
}

/**
 * Texts of all files below a folder; none if the folder does not exist.
 * @param {string} folder
 * @param {string} suffix
 */
function documents(folder, suffix) {
  if (!existsSync(folder)) return [];
  const paths = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  return paths
    .filter((path) => path.endsWith(suffix))
    .toSorted()
    .map((path) => readFileSync(join(folder, path), "utf8"));
}

/**
 * @param {string} text
 * @returns {JsonObject}
 */
function parsed(text) {
  return JSON.parse(text);
}

// OpenAPI v3

/**
 * @param {readonly JsonObject[]} openapi
 * @returns {JsonObject}
 */
function schemasOf(openapi) {
  const all = openapi.flatMap(({ components }) => Object.entries(asObject(asObject(components)["schemas"])));
  return Object.fromEntries(all.toSorted(byName));
}

/**
 * Drops descriptions, examples of values and empty defaults of references.
 * @param {Json} schema
 * @returns {Json}
 */
function compactSchema(schema) {
  const kept = Object.entries(asObject(schema))
    .filter(([key]) => key !== "description" && key !== "enum")
    .toSorted(byName)
    .map(([key, value]) => [key, compactMember(key, value)]);
  const compact = asObject(Object.fromEntries(kept));
  const { $ref, allOf, default: preset, ...others } = compact;
  const reference =
    $ref ?? (Array.isArray(allOf) && allOf.length === 1 ? asObject(allOf[0])["$ref"] : undefined);
  const isBare = Object.keys(others).length === 0 && Object.keys(asObject(preset)).length === 0;
  return reference !== undefined && isBare ? { $ref: reference } : compact;
}

/**
 * @param {string} key
 * @param {Json} value
 * @returns {Json}
 */
function compactMember(key, value) {
  if (key === "properties") return mapped(asObject(value), compactSchema);
  if (["allOf", "oneOf", "anyOf"].includes(key) && Array.isArray(value)) return value.map(compactSchema);
  if (["items", "additionalProperties", "not"].includes(key) && typeof value === "object") {
    return compactSchema(value);
  }
  if (key.startsWith("x-kubernetes-")) return sorted(value);
  return value;
}

/**
 * Allowed values by type and field.
 * @param {JsonObject} schemas
 * @returns {JsonObject}
 */
function enumsOf(schemas) {
  const rows = Object.entries(schemas).map(([name, schema]) => {
    const fields = Object.entries(asObject(asObject(schema)["properties"])).toSorted(byName);
    const values = fields.map(([field, node]) => [
      field,
      asObject(node)["enum"] ?? asObject(asObject(node)["items"])["enum"],
    ]);
    return [name, Object.fromEntries(values.filter(([, allowed]) => allowed !== undefined))];
  });
  return Object.fromEntries(rows.filter(([, fields = {}]) => Object.keys(fields).length > 0));
}

// Discovery

/**
 * @param {readonly JsonObject[]} lists documents of the kind APIResourceList; others are ignored
 * @returns {Json[]}
 */
function groupVersionsOf(lists) {
  return lists
    .filter(({ kind }) => kind === "APIResourceList")
    .map(({ groupVersion, resources }) => {
      if (typeof groupVersion !== "string") throw new Error("an APIResourceList has no groupVersion");
      const [version = "", group = ""] = groupVersion.split("/").toReversed();
      return { group, version, resources: sorted(resources ?? []) };
    })
    .toSorted((left, right) => compare(`${left.group}/${left.version}`, `${right.group}/${right.version}`));
}

// Protobuf

const MESSAGE = /^message (?<name>\w+) \{\n(?<body>[^]*?)^\}/gm;
const FIELD =
  /^ {2}(?:(?<label>optional|required|repeated) )?(?<type>map<[^>]*>|[\w.]+) (?<name>\w+) = (?<number>\d+)/gm;

/**
 * `[number, type, label]` of each field, by message and field.
 * @param {readonly string[]} protos
 * @returns {JsonObject}
 */
function messagesOf(protos) {
  const messages = protos.flatMap((proto) => {
    const scope = /^package (?<scope>[\w.]+);/m.exec(proto)?.groups?.["scope"] ?? "";
    return [...proto.matchAll(MESSAGE)].map(({ groups = {} }) => [
      `${scope}.${groups["name"]}`,
      fieldsOf(groups["body"]),
    ]);
  });
  return Object.fromEntries(messages.toSorted(byName));
}

/** @param {string} [body] */
function fieldsOf(body = "") {
  const fields = [...body.matchAll(FIELD)].map(({ groups: { name = "", type, label, number } = {} }) => [
    name,
    [Number(number), type, label ?? "map"],
  ]);
  return Object.fromEntries(fields);
}

// Files

/**
 * JSON with a line for each value down to this depth; deeper values are compact.
 * @param {Json} value
 * @param {number} depth
 * @returns {string}
 */
function lines(value, depth) {
  if (depth === 0 || typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const entries = isList
    ? value.map((item) => lines(item, depth - 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${lines(item, depth - 1)}`);
  if (entries.length === 0) return JSON.stringify(value);
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${entries.join(",\n")}\n${close}`;
}

/**
 * @param {Json | undefined} value
 * @returns {JsonObject}
 */
function asObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/**
 * @param {JsonObject} object
 * @param {(value: Json) => Json} change
 * @returns {JsonObject}
 */
function mapped(object, change) {
  const entries = Object.entries(object).toSorted(byName);
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value)]));
}

/**
 * The value with the keys of all objects in order.
 * @param {Json} value
 * @returns {Json}
 */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  return typeof value === "object" && value !== null ? mapped(value, sorted) : value;
}

/**
 * @param {readonly unknown[]} left
 * @param {readonly unknown[]} right
 */
function byName([left], [right]) {
  return compare(String(left), String(right));
}

/**
 * @param {string} left
 * @param {string} right
 */
function compare(left, right) {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * The text of each file that has a source.
 * @param {string} from
 * @returns {readonly (readonly [file: string, text: string])[]}
 */
function textsOf(from) {
  const made = published(from);
  return Object.entries(FILES).flatMap(([file, depth]) => {
    const source = join(from, file);
    const facts = made[file] ?? (existsSync(source) ? parsed(readFileSync(source, "utf8")) : undefined);
    if (facts === undefined) console.log(`${file}: no source, kept`);
    return facts === undefined ? [] : [/** @type {const} */ ([file, `${lines(facts, depth)}\n`])];
  });
}

/** @param {readonly string[]} args */
function main(args) {
  const isCheck = args.includes("--check");
  const [from, to = TARGET] = args.filter((argument) => !argument.startsWith("--"));
  if (from === undefined || !existsSync(from)) throw new Error("name the folder of the published documents");
  const changed = textsOf(from).filter(([file, text]) => {
    const path = join(to, file);
    return !existsSync(path) || readFileSync(path, "utf8") !== text;
  });
  for (const [file, text] of isCheck ? [] : changed) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text);
  }
  const names = changed.map(([file]) => file).join(", ");
  console.log(names === "" ? "nothing has changed" : `${isCheck ? "would change" : "written"}: ${names}`);
  if (isCheck && names !== "") process.exitCode = 1;
}

main(process.argv.slice(2));
