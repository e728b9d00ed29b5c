/** Objects that a command's arguments name: `pods`, `pod a b`, `pod/a service/b`, `pods,services`. */
import {
  groupOf,
  lowerPriorityResources,
  resourcesNamed,
  type ServedResource,
} from "../../client/served-resources.ts";
import { findText, UsageError } from "../command.ts";
import type { VerbSession } from "./verb-session.ts";

export interface Target {
  readonly resource: ServedResource;
  /** Names of the objects; undefined for all that the selectors match. */
  readonly names: readonly string[] | undefined;
}

type Names = Pick<VerbSession, "served" | "warn">;

export function targetsOf(words: readonly string[], names: Names): readonly Target[] {
  if (words.length === 0)
    throw new UsageError('say which objects: TYPE, TYPE NAME or TYPE/NAME, for example "pods"');
  // An empty word is a variable that is not set. As a name it would mean all objects.
  if (words.includes("")) throw new UsageError("a type or name is empty: is a variable unset?");
  const slashed = words.filter((word) => word.includes("/"));
  if (slashed.length > 0 && slashed.length < words.length)
    throw new UsageError("give all objects as TYPE/NAME, or one TYPE followed by names");
  if (slashed.length > 0) return slashed.map((word) => targetOf(word, names));
  const [types = "", ...objects] = words;
  const resources = types.split(",").flatMap((type) => resourcesOf(type, names));
  return resources.map((resource) => ({ resource, names: objects.length === 0 ? undefined : objects }));
}

/** Names and selectors exclude each other, and a name needs one namespace. */
export function refuseNamesBesideChoice(
  { args, namespace }: Pick<VerbSession, "args" | "namespace">,
  targets: readonly Target[],
): void {
  const named = targets.filter(({ names }) => names !== undefined);
  if (named.length === 0) return;
  if ((findText(args, "selector") ?? findText(args, "fieldSelector")) !== undefined)
    throw new UsageError("selectors choose objects: give no names beside them");
  if (namespace === undefined && named.some(({ resource }) => resource.namespaced))
    throw new UsageError("an object is in one namespace: give no name beside --all-namespaces");
}

function targetOf(word: string, names: Names): Target {
  const [type = "", name = "", ...rest] = word.split("/");
  if (type === "" || name === "" || rest.length > 0)
    throw new UsageError(`an object is written TYPE/NAME, found "${word}"`);
  const [resource, ...others] = resourcesOf(type, names);
  if (resource === undefined || others.length > 0)
    throw new UsageError(`"${type}" names several resources: use one of them`);
  return { resource, names: [name] };
}

function resourcesOf(word: string, { served, warn }: Names): readonly ServedResource[] {
  for (const other of lowerPriorityResources(word, served)) {
    const group = groupOf(other);
    const name = `${other.plural}${group === "" ? "" : `.${group}`}`;
    warn(`short name "${word}" could also match lower priority resource ${name}`);
  }
  return resourcesNamed(word, served);
}
