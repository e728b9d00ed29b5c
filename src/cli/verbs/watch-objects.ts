/** `setpoint get --watch`: the objects, then each change. */
import { collectionPath } from "../../api/api-object.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { UsageError } from "../command.ts";
import { changesOf, versionOf } from "./follow.ts";
import { selectorQuery } from "./found-objects.ts";
import type { Target } from "./targets.ts";
import type { VerbSession } from "./verb-session.ts";

export interface WatchedView {
  readonly form: "object" | "table";
  /** Text of a list or table, and of the object or table of a change. */
  readonly textOf: (value: unknown) => string;
}

export async function watchObjects(
  session: VerbSession,
  targets: readonly Target[],
  viewOf: (target: Target) => WatchedView,
): Promise<void> {
  const [target, ...others] = targets;
  const [name, ...more] = target?.names ?? [];
  if (target === undefined || others.length + more.length > 0)
    throw new UsageError("--watch follows one object, or all of one type");
  const { form, textOf } = viewOf(target);
  const query = {
    ...selectorQuery(session.args),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  };
  const path = collectionPath(target.resource, session.namespace);
  const listed = await session.client.request({ path, query, form });
  print(session, textOf(listed));
  const version = listVersion(listed);
  for await (const { object } of changesOf(session, { path, query, form, version }))
    print(session, textOf(object));
}

function print({ io }: VerbSession, text: string): void {
  if (text !== "") io.stdout(text);
}

/** Version of the whole list, not of its first row. */
function listVersion(list: unknown): string {
  const { metadata } = isJsonObject(list) ? list : {};
  return versionOf({ metadata }) ?? "";
}
