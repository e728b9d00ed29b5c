/** Objects that a command's arguments name: `pods`, `pod a b`, `pod/a service/b`, `pods,services`. */
import { resourcesNamed, type ServedResource } from "../../client/served-resources.ts";
import { UsageError } from "../command.ts";

export interface Target {
  readonly resource: ServedResource;
  /** Names of the objects; undefined for all that the selectors match. */
  readonly names: readonly string[] | undefined;
}

export function targetsOf(words: readonly string[], served: readonly ServedResource[]): readonly Target[] {
  if (words.length === 0)
    throw new UsageError('say which objects: TYPE, TYPE NAME or TYPE/NAME, for example "pods"');
  const slashed = words.filter((word) => word.includes("/"));
  if (slashed.length > 0 && slashed.length < words.length)
    throw new UsageError("give all objects as TYPE/NAME, or one TYPE followed by names");
  if (slashed.length > 0) return slashed.map((word) => targetOf(word, served));
  const [types = "", ...names] = words;
  const resources = types.split(",").flatMap((type) => resourcesNamed(type, served));
  return resources.map((resource) => ({ resource, names: names.length === 0 ? undefined : names }));
}

function targetOf(word: string, served: readonly ServedResource[]): Target {
  const [type = "", name = "", ...rest] = word.split("/");
  if (type === "" || name === "" || rest.length > 0)
    throw new UsageError(`an object is written TYPE/NAME, found "${word}"`);
  const [resource, ...others] = resourcesNamed(type, served);
  if (resource === undefined || others.length > 0)
    throw new UsageError(`"${type}" names several resources: use one of them`);
  return { resource, names: [name] };
}
