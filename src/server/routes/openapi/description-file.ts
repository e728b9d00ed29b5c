/**
 * The form of the files in descriptions/, one for each API group:
 *
 *     # apps.v1 apps.v1beta1            the packages that the types below belong to
 *     Deployment keeps pods running.    a type; its first word is the name
 *       = meta.v1.Condition             fields that the type does not describe are as in this other type
 *       replicas is the number of pods. a field; its first word is the name, in any case
 */

export interface TypeDescription {
  readonly text: string;
  /** Keyed by field name in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  /** Definition that describes the remaining fields. */
  readonly base: string | undefined;
}

interface OpenType extends TypeDescription {
  readonly fields: Map<string, string>;
  base: string | undefined;
}

const HEAD = "# ";
const BASE = "  = ";
const FIELD = "  ";

/** Parses a file, keyed by definition, such as `apps.v1.Deployment`. A repeated type adds fields. */
export function parseDescriptions(file: string): ReadonlyMap<string, TypeDescription> {
  const types = new Map<string, OpenType>();
  let packages: readonly string[] = [];
  let open: readonly OpenType[] = [];
  for (const line of file.split("\n")) {
    if (line.startsWith(HEAD)) packages = line.slice(HEAD.length).split(" ");
    else if (line.startsWith(BASE)) for (const type of open) type.base = line.slice(BASE.length);
    else if (line.startsWith(FIELD)) for (const type of open) addField(type, line.slice(FIELD.length));
    else if (line !== "") open = packages.map((owner) => openType(types, owner, line));
  }
  return types;
}

function addField({ fields }: OpenType, text: string): void {
  fields.set(firstWord(text).toLowerCase(), text);
}

function openType(types: Map<string, OpenType>, owner: string, text: string): OpenType {
  const definition = `${owner}.${firstWord(text)}`;
  const known = types.get(definition);
  const type = { text, fields: known?.fields ?? new Map<string, string>(), base: known?.base };
  types.set(definition, type);
  return type;
}

function firstWord(text: string): string {
  return text.slice(0, text.indexOf(" "));
}
