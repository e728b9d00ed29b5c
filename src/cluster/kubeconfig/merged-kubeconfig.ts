/**
 * Adds the context of a cluster to the text of the user's kubeconfig, and takes it out. Pure. An entry is ours if it
 * carries the extension `setpoint` with our data dir; other entries never change.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { YamlDocument } from "../../api/yaml/yaml-document.ts";
import { errorText } from "../../base/error-text.ts";
import type { KubeconfigEntries } from "./kubeconfig.ts";

export type KubeconfigEdit =
  | { readonly type: "write"; readonly text: string; readonly current: unknown }
  /** The text has all of it already. `current` is the current context, as after a write. */
  | { readonly type: "unchanged"; readonly current: unknown }
  /** The file must not be changed. The reason continues a sentence that begins with the path. */
  | { readonly type: "refused"; readonly reason: string };

const LISTS = [
  ["clusters", "cluster"],
  ["contexts", "context"],
  ["users", "user"],
] as const;

/** Name of the extension that marks our entries. */
const MARK = "setpoint";

export interface OwnedContext {
  readonly name: string;
  /** Absolute path of the data dir that owns the entries. */
  readonly dataDir: string;
}

/** Adds or renews the context. It becomes the current one only where there is none. */
export function withContext(
  text: string,
  { name, dataDir }: OwnedContext,
  entries: KubeconfigEntries,
): KubeconfigEdit {
  return edited(text, (document) => {
    takeOut(document, dataDir);
    for (const [list] of LISTS) {
      const other = itemsOf(document, list).find((item) => item["name"] === name);
      if (other !== undefined) return takenText(name, findOwner(other));
    }
    for (const [list, member] of LISTS) document.append(list, marked(entries[list], { member, dataDir }));
    for (const [key, value] of [
      ["apiVersion", "v1"],
      ["kind", "Config"],
      ["current-context", name],
    ] as const) {
      if (isNone(fieldOf(document, key))) document.set(key, value);
    }
    return undefined;
  });
}

/** Takes out all entries of the data dir, and the current context if it was one of them. */
export function withoutContext(text: string, dataDir: string): KubeconfigEdit {
  return edited(text, (document) => {
    const owned = itemsOf(document, "contexts").filter((item) => findOwner(item) === dataDir);
    takeOut(document, dataDir);
    const current = fieldOf(document, "current-context");
    if (owned.some((item) => item["name"] === current)) document.delete("current-context");
    return undefined;
  });
}

/** Contexts of Setpoint's clusters. Throws for a text that is not YAML. */
export function ownedContexts(text: string): readonly OwnedContext[] {
  return itemsOf(new YamlDocument(text), "contexts").flatMap((item) => {
    const dataDir = findOwner(item);
    return dataDir === undefined ? [] : [{ name: String(item["name"]), dataDir }];
  });
}

/** Applies a change that returns the reason to refuse, if any. */
function edited(text: string, change: (document: YamlDocument) => string | undefined): KubeconfigEdit {
  let document;
  try {
    document = new YamlDocument(text);
  } catch (error) {
    return { type: "refused", reason: `is not valid YAML (${errorText(error)}): mend it` };
  }
  const before = document.toString();
  const reason = findProblem(document) ?? change(document);
  if (reason !== undefined) return { type: "refused", reason };
  const after = document.toString();
  const current = fieldOf(document, "current-context");
  return after === before ? { type: "unchanged", current } : { type: "write", text: after, current };
}

/** Why the document is no kubeconfig. An empty file is one. */
function findProblem({ value }: YamlDocument): string | undefined {
  if (value === null) return undefined;
  if (!isJsonObject(value)) return "is not a kubeconfig: expected clusters, users and contexts";
  const { kind } = value;
  if (!isNone(kind) && kind !== "Config") return `is not a kubeconfig: its kind is ${JSON.stringify(kind)}`;
  const wrong = LISTS.find(([list]) => !isNone(value[list]) && !Array.isArray(value[list]));
  return wrong === undefined ? undefined : `is not a kubeconfig: ${wrong[0]} is not a list`;
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function takeOut(document: YamlDocument, dataDir: string): void {
  for (const [list] of LISTS) {
    const items = itemsOf(document, list);
    document.removeItems(list, (at) => findOwner(items[at] ?? {}) === dataDir);
  }
}

function marked(entry: JsonObject, { member, dataDir }: { member: string; dataDir: string }): JsonObject {
  const value = entry[member];
  const extensions = [{ name: MARK, extension: { dataDir } }];
  return { ...entry, [member]: { ...(isJsonObject(value) ? value : {}), extensions } };
}

function fieldOf({ value }: YamlDocument, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

function itemsOf(document: YamlDocument, list: string): readonly JsonObject[] {
  const found = fieldOf(document, list);
  return Array.isArray(found) ? found.map((item: unknown) => (isJsonObject(item) ? item : {})) : [];
}

/** The data dir that owns an entry; undefined for entries of others. */
function findOwner(entry: JsonObject): string | undefined {
  for (const [, member] of LISTS) {
    const body = entry[member];
    const extensions = isJsonObject(body) ? body["extensions"] : undefined;
    for (const extension of Array.isArray(extensions) ? (extensions as readonly unknown[]) : []) {
      if (!isJsonObject(extension) || extension["name"] !== MARK) continue;
      const content = extension["extension"];
      const dataDir = isJsonObject(content) ? content["dataDir"] : undefined;
      if (typeof dataDir === "string") return dataDir;
    }
  }
  return undefined;
}

function takenText(name: string, owner: string | undefined): string {
  const known = owner === undefined ? "another program" : `the cluster in ${owner}`;
  return `has ${JSON.stringify(name)} of ${known} already: choose another name with --name`;
}
