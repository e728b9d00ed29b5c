/** Collects the definitions of kinds, including those that they refer to. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { builtInKinds, findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import type { Schema, StructSchema } from "../../../api/schema/schema.ts";
import type { DefinitionContext, KindsOf } from "./definition-context.ts";
import { publishedName } from "./definition-name.ts";
import { definitionOf, specialName } from "./schema-document.ts";
import { SPECIAL, specialShape } from "./special-definition.ts";

export interface Definitions extends DefinitionContext {
  /** Keyed by published name. */
  readonly known: Map<string, JsonObject>;
}

/** Adds the missing definitions. */
export function addDefinitions(roots: readonly StructSchema[], definitions: Definitions): void {
  const { known } = definitions;
  const waiting = [...roots];
  const note = (name: string): void => {
    if (!known.has(name)) known.set(name, specialShape(name, definitions));
  };
  for (let struct = waiting.pop(); struct !== undefined; struct = waiting.pop()) {
    const name = publishedName(struct.definition);
    if (known.has(name)) continue;
    known.set(name, definitionOf(struct, definitions));
    for (const field of struct.fields) {
      const place = { struct, field: field.name };
      visit(field.schema, {
        struct: (found) => waiting.push(found),
        special: note,
        nameOf: (schema) => specialName(schema, place),
      });
    }
  }
}

interface SchemaVisitor {
  struct(struct: StructSchema): void;
  special(name: string): void;
  nameOf(schema: Parameters<typeof specialName>[0]): string | undefined;
}

function visit(schema: Schema, visitor: SchemaVisitor): void {
  if (schema.type === "struct") visitor.struct(schema);
  else if (schema.type === "list") visit(schema.items, visitor);
  else if (schema.type === "map") visit(schema.values, visitor);
  else if (schema.type === "either") {
    visitor.struct(schema.struct);
    visitor.special(SPECIAL[schema.other]);
  } else {
    const name = visitor.nameOf(schema);
    if (name !== undefined) visitor.special(name);
  }
}

/** Kinds that belong to every group version. */
const KINDS_OF_ALL: ReadonlySet<string> = new Set(["DeleteOptions", "WatchEvent"]);

export function kindFinder(served: readonly GroupVersionFacts[]): KindsOf {
  const versions = new Map<string, string[]>();
  for (const [apiVersion, kind] of builtInKinds()) {
    versions.set(kind, [...(versions.get(kind) ?? []), apiVersion]);
  }
  return (struct) => {
    const known = (versions.get(struct.name) ?? []).filter(
      (apiVersion) => findKindSchema(apiVersion, struct.name)?.definition === struct.definition,
    );
    const isOfAll = KINDS_OF_ALL.has(struct.name) && known.length > 0;
    return (isOfAll ? served.map(apiVersionOf) : known).map((apiVersion) => ({
      ...groupVersionOf(apiVersion),
      kind: struct.name,
    }));
  };
}

function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
