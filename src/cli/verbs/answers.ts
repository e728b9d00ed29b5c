/** Responses of the server about a target: one for each name, or for each page of the list. */
import { collectionPath, objectPath } from "../../api/api-object.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { selectorQuery } from "./found-objects.ts";
import type { Target } from "./targets.ts";
import type { VerbSession } from "./verb-session.ts";

export type Answer = { readonly value: unknown } | { readonly error: unknown };

/** Objects per request, as kubectl's default. */
const CHUNK = 500;

export async function* answersFor(
  { client, namespace = "", args, revision }: VerbSession,
  { resource, names }: Target,
  form: "object" | "table",
): AsyncGenerator<Answer> {
  const past = revision === undefined ? {} : { resourceVersion: revision, resourceVersionMatch: "Exact" };
  if (names === undefined) {
    const path = collectionPath(resource, namespace);
    let token: string | undefined;
    do {
      // The token fixes the revision.
      const rest = token === undefined ? past : { continue: token };
      const value = await client.request({
        path,
        query: { ...selectorQuery(args), limit: String(CHUNK), ...rest },
        form,
      });
      yield { value };
      token = continuationOf(value);
    } while (token !== undefined);
    return;
  }
  for (const name of names) {
    try {
      yield {
        value: await client.request({ path: objectPath(resource, { namespace, name }), query: past, form }),
      };
    } catch (error) {
      yield { error };
    }
  }
}

function continuationOf(list: unknown): string | undefined {
  const metadata = isJsonObject(list) ? list["metadata"] : undefined;
  const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
  return typeof token === "string" && token !== "" ? token : undefined;
}
