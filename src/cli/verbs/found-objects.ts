/** Objects that a command's arguments name or select. */
import { collectionPath, type ApiObject, type ResourceType } from "../../api/api-object.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { findText, UsageError, type Arguments } from "../command.ts";
import type { FailureList } from "./failure-list.ts";
import { readNamed } from "./missing-namespace.ts";
import { targetsOf, type Target } from "./targets.ts";
import type { VerbSession } from "./verb-session.ts";

export interface FoundObject {
  readonly resource: ResourceType;
  readonly object: ApiObject;
}

/** Reads the objects. Without names, `--selector`, `--field-selector` or `--all` is needed. Missing ones are failures. */
export async function findObjects(
  session: VerbSession,
  failures: FailureList,
): Promise<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  for (const target of targetsOf(session.args.rest, session)) {
    if (target.names === undefined) found.push(...(await selected(target, session)));
    else
      for (const name of target.names)
        await failures.collect(async () => {
          const namespace = target.resource.namespaced ? (session.namespace ?? "") : "";
          const read = () => session.client(target.resource).get({ namespace, name });
          const object = await readNamed(session, namespace, read);
          found.push({ resource: target.resource, object });
        });
  }
  return found;
}

/** Objects that the selectors match. */
export async function selected(
  { resource }: Target,
  { client, namespace, args }: VerbSession,
): Promise<readonly FoundObject[]> {
  const query = selectorQuery(args);
  if (Object.keys(query).length === 0 && args.options["all"] !== true)
    throw new UsageError("say which objects: names, --selector, --field-selector or --all");
  const list = await client.request({ path: collectionPath(resource, namespace), query });
  const items = isJsonObject(list) && Array.isArray(list["items"]) ? list["items"] : [];
  const { apiVersion, kind } = resource;
  return items.filter(isObject).map((object) => ({ resource, object: { ...object, apiVersion, kind } }));
}

export function selectorQuery(args: Arguments): Readonly<Record<string, string>> {
  const [labelSelector, fieldSelector] = [findText(args, "selector"), findText(args, "fieldSelector")];
  return {
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}

function isObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}
