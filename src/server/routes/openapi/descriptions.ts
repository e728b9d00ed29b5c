/** Descriptions of the types and fields of the API, one line each, as `kubectl explain` shows them. */
import { readFileSync } from "node:fs";
import { findField, type StructSchema } from "../../../api/schema/schema.ts";
import { parseDescriptions, type TypeDescription } from "./description-file.ts";

/** Folder next to this file. The build replaces it by the path of the library's copy. */
const FOLDER = new URL("./descriptions/", import.meta.url);

/** Descriptions of fields that mean the same in every kind or every list. */
const OBJECT = "common.Object";
const LIST = "common.List";

/**
 * Reads the file of an API group at the first request for one of its types. An instance lives while one document is made, because the
 * document keeps its own copy of the texts.
 */
export class Descriptions {
  readonly #folder: URL;
  readonly #groups = new Map<string, ReadonlyMap<string, TypeDescription>>();

  constructor(folder = FOLDER) {
    this.#folder = folder;
  }

  ofType(struct: StructSchema): string | undefined {
    return this.#find(struct.definition)?.text ?? listText(struct);
  }

  ofField(struct: StructSchema, field: string): string | undefined {
    const { definition, byName } = struct;
    const name = field.toLowerCase();
    for (let at: string | undefined = definition; at !== undefined;) {
      const type = this.#find(at);
      const text = type?.fields.get(name);
      if (text !== undefined) return text;
      at = type?.base === undefined ? undefined : fullName(type.base, at);
    }
    if (!byName.has("kind") || !byName.has("metadata")) return undefined;
    const listed = name === "items" ? itemKind(struct) : undefined;
    if (listed !== undefined) return `List of ${pluralOf(listed.toLowerCase())}.`;
    return this.#find(byName.has("items") ? LIST : OBJECT)?.fields.get(name);
  }

  /** Description of a type that is not a struct, such as `Quantity`. */
  ofSpecial(name: string): string | undefined {
    return this.#find(`common.${name}`)?.text;
  }

  #find(definition: string): TypeDescription | undefined {
    const group = definition.slice(0, definition.indexOf("."));
    let types = this.#groups.get(group);
    if (types === undefined) {
      types = parseDescriptions(textOf(new URL(`${group}.txt`, this.#folder)));
      this.#groups.set(group, types);
    }
    return types.get(definition);
  }
}

/** A program that bundles the server without these files gets documents without descriptions. */
function textOf(file: URL): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** A name without a package belongs to the same package. */
function fullName(name: string, definition: string): string {
  return name.includes(".") ? name : definition.slice(0, definition.lastIndexOf(".") + 1) + name;
}

function listText(struct: StructSchema): string | undefined {
  const kind = itemKind(struct);
  return kind === undefined ? undefined : `${struct.name} is a list of ${kind} objects.`;
}

/** Undefined for a type that is not a list of objects. */
function itemKind(struct: StructSchema): string | undefined {
  const items = findField(struct, "items")?.schema;
  const isList = items?.type === "list" && items.items.type === "struct" && struct.byName.has("kind");
  return isList ? items.items.name : undefined;
}

/** Forms the plural, because scripts look for `List of services`. */
function pluralOf(name: string): string {
  if (/(?:endpoints|metrics)$/.test(name)) return name;
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(?:s|x|ch)$/.test(name) ? `${name}es` : `${name}s`;
}
