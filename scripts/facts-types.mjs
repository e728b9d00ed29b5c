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
/** Members that the server sets on every stored object. The metadata of a template may lack them. */
const STORED_METADATA = `/** Metadata of a stored object: members that every stored object has are not optional. */
export type StoredMeta = ObjectMeta & {
  readonly creationTimestamp: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
};
`;

/**
 * One module per package, so that `Deployment` is `Deployment` and not `AppsV1Deployment`. A kind that is served under a path of
 * its own has beside its type a value of the same name, with which clients name it.
 */
export function typeModules(structures, groupVersions) {
  const packages = grouped(Object.keys(structures), packageOf);
  const resources = resourcesByKind(groupVersions);
  return Object.fromEntries(
    [...packages].map(([owner, names]) => {
      const imports = new Map();
      const bodies = names.map((name) => {
        const text = structureText(name, structures[name], { owner, imports });
        return text + resourceText(name, structures[name], resources);
      });
      const lines = [...imports]
        .toSorted(([left], [right]) => compare(left, right))
        .map(([from, used]) => importLine(from, [...used].toSorted(compare)));
      if (bodies.some((body) => body.includes(": ResourceType<"))) lines.unshift(RESOURCE_TYPE_IMPORT);
      const extra = owner === "meta.v1" ? [STORED_METADATA] : [];
      return [fileOf(owner), `${lines.join("")}\n${[...bodies, ...extra].join("\n")}`];
    }),
  );
}

/** Where a name means what people mean by it when several packages have it: `Event`, `Subject`. */
const FIRST_PACKAGES = ["core.v1", "meta.v1", "apps.v1", "batch.v1", "rbac.v1"];

/**
 * The entry `setpoint/resources`: each kind of a stable version as value and type under its own name, and the types they are made of. Where
 * there are several, the preferred version and the package that most people mean.
 */
export function typeEntry(structures, groupVersions) {
  const resources = resourcesByKind(groupVersions);
  const packages = stablePackages(Object.keys(structures));
  const isKind = (name) => resourceText(name, structures[name], resources) !== "";
  // Kinds come first: `ResourceClaim` is the kind, not the part of a container that has the same name.
  const owners = new Map();
  for (const test of [isKind, (name) => !isKind(name)]) {
    for (const name of packages.flatMap(([, names]) => names.filter(test))) {
      if (!owners.has(simpleName(name))) owners.set(simpleName(name), name);
    }
  }
  const blocks = packages.flatMap(([owner, names]) => {
    const fresh = names.filter((name) => owners.get(simpleName(name)) === name).toSorted(compare);
    const types = fresh.filter((name) => !isKind(name));
    return [
      exportBlock("export", owner, fresh.filter(isKind)),
      exportBlock("export type", owner, owner === "meta.v1" ? [...types, "meta.v1.StoredMeta"] : types),
    ];
  });
  return blocks.join("");
}

/** The newest version of a group first. */
function stablePackages(names) {
  const rankOf = (owner) => (FIRST_PACKAGES.indexOf(owner) + 1 || FIRST_PACKAGES.length + 1) - 1;
  const [groupOf, versionOf] = [0, 1].map((at) => (owner) => owner.split(".")[at]);
  return [...grouped(names, packageOf)]
    .filter(([owner]) => /\.v\d+$/.test(owner))
    .toSorted(
      ([left], [right]) =>
        rankOf(left) - rankOf(right) ||
        compare(groupOf(left), groupOf(right)) ||
        compare(versionOf(right), versionOf(left)),
    );
}

function exportBlock(keyword, owner, names) {
  if (names.length === 0) return "";
  const simple = names.map(simpleName);
  const line = `${keyword} { ${simple.join(", ")} } from "./${fileOf(owner)}";\n`;
  if (line.length <= LINE_MAX + 1) return line;
  return `${keyword} {\n${simple.map((name) => `  ${name},\n`).join("")}} from "./${fileOf(owner)}";\n`;
}

function simpleName(name) {
  return name.split(".").at(-1);
}

const RESOURCE_TYPE_IMPORT = 'import type { ResourceType } from "../../api-object.ts";\n';

/** Resources that can be read, by `apiVersion kind`. */
function resourcesByKind(groupVersions) {
  return new Map(
    groupVersions.flatMap(({ group, version, resources }) =>
      resources
        .filter(({ name, verbs }) => !name.includes("/") && verbs.includes("get"))
        .map((resource) => [`${apiVersionOf(group, version)} ${resource.kind}`, resource]),
    ),
  );
}

function resourceText(name, { k: kinds = [] }, resources) {
  const [[group, version, kind] = []] = kinds;
  const resource = resources.get(`${apiVersionOf(group, version)} ${kind}`);
  if (resource === undefined) return "";
  const type = name.split(".").at(-1);
  return (
    `export const ${type}: ResourceType<${type}> = {\n  apiVersion: ${JSON.stringify(apiVersionOf(group, version))},\n` +
    `  kind: ${JSON.stringify(kind)},\n  plural: ${JSON.stringify(resource.name)},\n  namespaced: ${resource.namespaced},\n};\n`
  );
}

function apiVersionOf(group, version) {
  return group === "" ? version : `${group}/${version}`;
}

function grouped(names, keyOf) {
  const groups = new Map();
  for (const name of names) groups.set(keyOf(name), [...(groups.get(keyOf(name)) ?? []), name]);
  return groups;
}

function structureText(name, { k: kinds, f: fields }, context) {
  const lines = Object.entries(fields).map(([field, row]) => {
    const type = memberType({ field, row, kinds }, context);
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field);
    return memberLine(`readonly ${key}${isPresent(field, row, kinds) ? "" : "?"}:`, type);
  });
  const body = lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
  return `export type ${name.split(".").at(-1)} = ${body};\n`;
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
  if (kind !== undefined && field === "apiVersion") return JSON.stringify(apiVersionOf(group, version));
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
