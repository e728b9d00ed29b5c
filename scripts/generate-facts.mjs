// Writes src/api/generated/: a compact copy of the facts of the published Kubernetes API and the
// TypeScript types that follow from them. `--check` writes nothing and fails when a file would change.
//
//   node scripts/generate-facts.mjs [--check] [folder of the facts]
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { resourceTable } from "./facts-resources.mjs";
import { typeEntry, typeModules } from "./facts-types.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGET = join(ROOT, "src/api/generated");
const SOURCE = join(ROOT, "facts/kubernetes-1.36");
const BANNER = "// Made by scripts/generate-facts.mjs. Do not edit.\n";

/** Prefix of a published name before the package's short name (`core.v1.Pod`), by the first part of the short name. */
const PREFIXES = {
  meta: "io.k8s.apimachinery.pkg.apis.",
  version: "io.k8s.apimachinery.pkg.",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.",
  "": "io.k8s.api.",
};

/** Types with a form of their own in JSON and on the wire, and the letter that stands for each. */
const SPECIAL = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "u",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "x",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "r",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "r",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "r",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "B",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "A",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "S",
};
/** Members that the wire keeps in the envelope. */
const TYPE_FIELDS = new Set(["apiVersion", "kind"]);
const FORMATS = { "string byte": "y", "integer int32": "i", "integer int64": "l", "number double": "d" };
const PLAIN = { string: "s", boolean: "b" };
/** On the wire, but not in the published structure; what a client asks for with `as=PartialObjectMetadata`. */
const PARTIAL_KINDS = {
  "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata": {
    metadata: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
  },
  "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList": {
    items: {
      items: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata" },
      type: "array",
    },
    metadata: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta" },
  },
};

/** Every file to write, by its path under src/api/generated. */
function generate(source) {
  const facts = readFacts(source);
  const structures = Object.fromEntries(
    Object.keys(facts.definitions)
      .filter((name) => !(name in SPECIAL) && !name.endsWith(".Patch"))
      .toSorted()
      .map((name) => [shortName(name), structure(facts, name)]),
  );
  return {
    "structures.ts": lineModule("STRUCTURES", structures),
    "type-names.ts": lineModule("TYPE_NAMES", shortNamed(facts.typeNames)),
    "kinds.ts": textModule("KINDS", kindTable(structures)),
    "resources.ts": textModule("RESOURCES", resourceTable(facts)),
    "roles.ts": textModule("ROLES", facts.rbac),
    "pod-defaults.ts": textModule("POD_DEFAULTS", facts.podDefaults),
    "types/index.ts": `${BANNER}${typeEntry(structures, facts.groupVersions)}`,
    ...Object.fromEntries(
      Object.entries(typeModules(structures, facts.groupVersions)).map(([path, text]) => [
        `types/${path}`,
        BANNER + text,
      ]),
    ),
  };
}

function readFacts(source) {
  const read = (name) => JSON.parse(readFileSync(join(source, name), "utf8"));
  const { definitions } = read("schema.json");
  for (const [name, properties] of Object.entries(PARTIAL_KINDS)) {
    const kind = name.split(".").at(-1);
    definitions[name] = {
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, ...properties },
      required: "items" in properties ? ["items"] : [],
      "x-kubernetes-group-version-kind": [{ group: "meta.k8s.io", version: "v1", kind }],
    };
  }
  return {
    definitions,
    fields: read("fields.json"),
    messages: read("protobuf.json").messages,
    groupVersions: read("resources.json").groupVersions,
    enums: read("enums.json"),
    typeNames: read("type-names.json"),
    strategies: read("strategies.json"),
    columns: read("columns.json"),
    selectors: read("selectors.json"),
    order: read("order.json"),
    storage: read("storage.json"),
    podDefaults: read("defaults-pod.json"),
    rbac: Object.fromEntries(
      readdirSync(join(source, "rbac"))
        .toSorted()
        .map((file) => [file.replace(".json", ""), read(join("rbac", file))]),
    ),
  };
}

/** `export const X_TEXT`: JSON in a string, because parsing that is faster than compiling the same literal. */
function textModule(name, value) {
  return `${BANNER}export const ${name}_TEXT = \`${escaped(JSON.stringify(value))}\`;\n`;
}

/** The same with a line `name JSON` per entry, so that a reader parses only the entries it needs. */
function lineModule(name, entries) {
  const lines = Object.entries(entries).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  return `${BANNER}export const ${name}_TEXT = \`${escaped(lines.join("\n"))}\`;\n`;
}

function escaped(text) {
  return text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");
}

/** The struct of each kind by `apiVersion kind`. */
function kindTable(structures) {
  return Object.fromEntries(
    Object.entries(structures).flatMap(([name, { k: kinds = [] }]) =>
      kinds.map(([group, version, kind]) => [`${group === "" ? "" : `${group}/`}${version} ${kind}`, name]),
    ),
  );
}

// Structures

/** `{ k: [group, version, kind] list, a: atomic, u: unions, f: { name: [type, flags, wire path, more] } }` */
function structure(facts, name) {
  const definition = facts.definitions[name];
  const layout = wireLayout(facts, name, []);
  const fields = Object.entries(definition.properties ?? {}).toSorted(([left], [right]) =>
    compare(left, right),
  );
  const kinds = definition["x-kubernetes-group-version-kind"]?.map((k) => [k.group, k.version, k.kind]);
  return stripped({
    // DeleteOptions and WatchEvent belong to every group version; one is enough to find them.
    k: kinds !== undefined && kinds.length > 1 ? kinds.slice(0, 1) : kinds,
    a: definition["x-kubernetes-map-type"] === "atomic" ? 1 : undefined,
    u: definition["x-kubernetes-unions"],
    f: Object.fromEntries(
      fields.map(([field, node]) => {
        if (name in facts.fields && !layout.has(field) && !TYPE_FIELDS.has(field)) {
          throw new Error(`fields.json has no line for ${name}.${field}`);
        }
        const required = definition.required?.includes(field) ?? false;
        return [field, fieldRow({ facts, name, field, node, required, wire: layout.get(field) })];
      }),
    ),
  });
}

function fieldRow({ facts, name, field, node, required, wire }) {
  const flags = (wire?.flags ?? (required ? "va" : "vo")) + (required ? "r" : "");
  const path = wire?.path ?? [];
  const row = [typeText(node), flags, path.length === 1 ? path[0] : path];
  const more = stripped({
    ...markers(node),
    w: isWrapped(node, wire) ? 1 : undefined,
    e: enumOf(facts, [name, wire?.owner], field),
  });
  return Object.keys(more).length === 0 ? row : [...row, more];
}

/** List type and keys, patch strategy and merge key, atomic or granular, default. */
function markers(node) {
  return {
    t: node["x-kubernetes-list-type"] === "atomic" ? undefined : node["x-kubernetes-list-type"],
    k: node["x-kubernetes-list-map-keys"],
    p: node["x-kubernetes-patch-strategy"],
    m: node["x-kubernetes-patch-merge-key"],
    a: { atomic: 1, granular: 0 }[node["x-kubernetes-map-type"]],
    d: publishedDefault(node),
  };
}

/** Where each JSON field lies on the wire: its path of numbers, Go's flags, its type there. */
function wireLayout(facts, name, prefix) {
  const message = facts.messages[messageName(name)] ?? {};
  const layout = new Map();
  const known = facts.fields[name] ?? flagsFromRequired(facts.definitions[name]);
  for (const [field, entry] of Object.entries(known)) {
    if (field.startsWith(".")) {
      const [number, type] = message[field.slice(1)];
      const inner = definitionOf(type, name);
      for (const [key, value] of wireLayout(facts, inner, [...prefix, number])) layout.set(key, value);
      continue;
    }
    const [flags, wireName] = Array.isArray(entry) ? entry : [entry, field];
    const wire = message[wireName];
    if (wire === undefined && name in facts.fields) throw new Error(`${name}.${field} is not on the wire`);
    layout.set(field, {
      path: wire === undefined ? [] : [...prefix, wire[0]],
      flags,
      wire,
      owner: name,
    });
  }
  return layout;
}

function flagsFromRequired(definition) {
  const fields = Object.keys(definition?.properties ?? {});
  return Object.fromEntries(
    fields.map((field) => [field, definition.required?.includes(field) ? "va" : "vo"]),
  );
}

function typeText(node) {
  const reference = node.$ref ?? node.allOf?.[0].$ref;
  if (reference !== undefined) {
    const name = reference.split("/").at(-1);
    return SPECIAL[name] ?? `@${shortName(name)}`;
  }
  if (node.type === "array") return `[${typeText(node.items)}`;
  if (node.additionalProperties !== undefined) return `{${typeText(node.additionalProperties)}`;
  const letter = FORMATS[`${node.type} ${node.format}`] ?? PLAIN[node.type];
  if (letter === undefined) throw new Error(`no type for ${JSON.stringify(node)}`);
  return letter;
}

/** Lists that the wire knows as a message with the field `items`: Verbs, and the values of `extra` maps. */
function isWrapped(node, wire) {
  if (node.type === "array") return wire?.wire?.[2] === "optional";
  return node.additionalProperties?.type === "array";
}

function publishedDefault(node) {
  const value = node.default;
  return value === "" || value === 0 || value === false || typeof value === "object" ? undefined : value;
}

function enumOf(facts, names, field) {
  for (const name of names) {
    const values = facts.enums[name]?.[field];
    if (values !== undefined) return values;
  }
  return undefined;
}

function definitionOf(type, from) {
  if (!type.startsWith(".")) return from.replace(/[^.]+$/, type);
  return type
    .slice(1)
    .replace(/^k8s\.io\./, "io.k8s.")
    .replaceAll("_", "-");
}

function messageName(name) {
  return name.replace(/^io\.k8s\./, "k8s.io.").replaceAll("-", "_");
}

function shortNamed(entries) {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [shortName(name), entry]));
}

function shortName(name) {
  const prefix = Object.values(PREFIXES).find((candidate) => name.startsWith(candidate));
  if (prefix === undefined) throw new Error(`unknown package of ${name}`);
  return name.slice(prefix.length);
}

// Files

function stripped(value) {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
}

function compare(left, right) {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The files that differ from what is on disk, those to be removed included. */
function outdated(files) {
  const present = existsSync(TARGET) ? readdirSync(TARGET, { recursive: true, withFileTypes: true }) : [];
  const extra = present
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(TARGET.length + 1))
    .filter((path) => !(path in files));
  const changed = Object.entries(files).filter(([path, text]) => {
    const file = join(TARGET, path);
    return !existsSync(file) || readFileSync(file, "utf8") !== text;
  });
  return [...extra, ...changed.map(([path]) => path)];
}

function main(args) {
  const source = args.find((argument) => !argument.startsWith("--")) ?? SOURCE;
  if (!existsSync(join(source, "schema.json"))) {
    console.error(`${source} has no schema.json; name the folder of the facts`);
    process.exit(1);
  }
  const files = generate(source);
  const changed = outdated(files);
  if (args.includes("--check")) {
    if (changed.length > 0) console.error(`regenerating would change ${changed.join(", ")}`);
    process.exit(changed.length > 0 ? 1 : 0);
  }
  for (const path of changed) {
    const file = join(TARGET, path);
    if (!(path in files)) {
      rmSync(file);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, files[path]);
  }
  console.log(`${String(changed.length)} of ${String(Object.keys(files).length)} files written`);
}

main(process.argv.slice(2));
