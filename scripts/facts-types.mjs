// TypeScript types of the structures that scripts/generate-facts.mjs gathers.

/** The formatter's, so that it finds nothing to do in what is generated. */
const LINE_MAX = 110;

const TYPES = {
  s: "string",
  i: "number",
  l: "number",
  d: "number",
  b: "boolean",
  y: "string",
  q: "string",
  t: "string",
  u: "string",
  x: "number | string",
  r: "unknown",
  B: "JSONSchemaProps | boolean",
  A: "JSONSchemaProps | readonly JSONSchemaProps[]",
  S: "JSONSchemaProps | readonly string[]",
};
/** What the server gives every stored object; an object's own metadata has them, a template's may not. */
const STORED_METADATA = `/** Metadata of an object the server holds: what every such object has is not optional. */
export interface StoredMeta extends ObjectMeta {
  readonly creationTimestamp: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
}
`;

/** One module per package, so that `Deployment` is `Deployment` and not `AppsV1Deployment`. */
export function typeModules(structures) {
  const packages = grouped(Object.keys(structures), packageOf);
  return Object.fromEntries(
    [...packages].map(([owner, names]) => {
      const imports = new Map();
      const bodies = names.map((name) => interfaceText(name, structures[name], { owner, imports }));
      const lines = [...imports]
        .toSorted(([left], [right]) => compare(left, right))
        .map(([from, used]) => importLine(from, [...used].toSorted(compare)));
      const extra = owner === "meta.v1" ? [STORED_METADATA] : [];
      return [fileOf(owner), `${lines.join("")}\n${[...bodies, ...extra].join("\n")}`];
    }),
  );
}

function grouped(names, keyOf) {
  const groups = new Map();
  for (const name of names) groups.set(keyOf(name), [...(groups.get(keyOf(name)) ?? []), name]);
  return groups;
}

function interfaceText(name, { k: kinds, f: fields }, context) {
  const lines = Object.entries(fields).map(([field, row]) => {
    const type = memberType({ field, row, kinds }, context);
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field);
    return memberLine(`readonly ${key}${isPresent(field, row, kinds) ? "" : "?"}:`, type);
  });
  const body = lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
  return `export interface ${name.split(".").at(-1)} ${body}\n`;
}

/** As the formatter would have it: a union too long for its line has one line per value. */
function memberLine(start, type) {
  const line = `  ${start} ${type};\n`;
  if (line.length <= LINE_MAX + 1) return line;
  const list = /^readonly \((.*)\)\[\]$/.exec(type);
  const values = (list?.[1] ?? type).split(" | ").map((value) => `    | ${value}`);
  return list === null
    ? `  ${start}\n${values.join("\n")};\n`
    : `  ${start} readonly (\n${values.join("\n")}\n  )[];\n`;
}

function importLine(from, names) {
  const line = `import type { ${names.join(", ")} } from "./${fileOf(from)}";\n`;
  if (line.length <= LINE_MAX + 1) return line;
  return `import type {\n${names.map((name) => `  ${name},\n`).join("")}} from "./${fileOf(from)}";\n`;
}

/** Fields that the normal form always has: those Go always writes, and structs that are no pointers. */
function isPresent(field, [type, flags], kinds) {
  if (kinds !== undefined && (field === "kind" || field === "apiVersion")) return true;
  return flags[1] === "a" || (flags[0] === "v" && type.startsWith("@"));
}

function memberType({ field, row: [type, , , more], kinds }, context) {
  const [[group, version, kind]] = kinds ?? [[]];
  if (kind !== undefined && field === "kind") return JSON.stringify(kind);
  if (kind !== undefined && field === "apiVersion")
    return JSON.stringify(group === "" ? version : `${group}/${version}`);
  if (kind !== undefined && type === "@meta.v1.ObjectMeta") return typeName("@meta.v1.StoredMeta", context);
  return typeName(type, { ...context, values: more?.e });
}

function typeName(type, context) {
  if (type.startsWith("[")) return `readonly ${grouping(typeName(type.slice(1), context))}[]`;
  if (type.startsWith("{")) return `Readonly<Record<string, ${typeName(type.slice(1), context)}>>`;
  if (type === "s" && context.values !== undefined)
    return context.values.map((value) => JSON.stringify(value)).join(" | ");
  if (!type.startsWith("@")) return TYPES[type];
  const name = type.slice(1);
  const simple = name.split(".").at(-1);
  const from = packageOf(name);
  if (from !== context.owner) context.imports.set(from, (context.imports.get(from) ?? new Set()).add(simple));
  return simple;
}

function grouping(type) {
  return type.includes(" ") ? `(${type})` : type;
}

function packageOf(name) {
  return name.split(".").slice(0, -1).join(".");
}

function fileOf(packageName) {
  return `${packageName.replaceAll(".", "-")}.ts`;
}

function compare(left, right) {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
