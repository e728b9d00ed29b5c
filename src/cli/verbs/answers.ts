/** Responses of the server about a target: one for each name, or for each page of the list. */
import { collectionPath, objectPath } from "../../api/api-object.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { selectorQuery } from "./found-objects.ts";
import { readNamed } from "./missing-namespace.ts";
import type { Target } from "./targets.ts";
import type { VerbSession } from "./verb-session.ts";

export type Answer = { readonly value: unknown } | { readonly error: unknown };

/** Objects per request, as kubectl's default. */
const CHUNK = 500;

export async function* answersFor(
  session: VerbSession,
  { resource, names }: Target,
  form: "object" | "table",
): AsyncGenerator<Answer> {
  const { client, namespace = "", revision } = session;
  const past = revision === undefined ? {} : { resourceVersion: revision, resourceVersionMatch: "Exact" };
  if (names === undefined) {
    yield* pagesOf(session, resource, { query: past, form });
    return;
  }
  for (const name of names) {
    const path = objectPath(resource, { namespace, name });
    const place = resource.namespaced ? namespace : "";
    try {
      yield { value: await readNamed({ client }, place, () => client.request({ path, query: past, form })) };
    } catch (error) {
      yield { error };
    }
  }
}

interface Reading {
  readonly query: Readonly<Record<string, string>>;
  readonly form: "object" | "table";
}

/** Ends at the first error. */
async function* pagesOf(
  { client, namespace, args }: VerbSession,
  resource: Target["resource"],
  { query, form }: Reading,
): AsyncGenerator<Answer> {
  const path = collectionPath(resource, namespace);
  let token: string | undefined;
  try {
    do {
      // The token fixes the revision.
      const rest = token === undefined ? query : { continue: token };
      const chosen = { ...selectorQuery(args), limit: String(CHUNK), ...rest };
      const value = await client.request({ path, query: chosen, form });
      yield { value };
      token = continuationOf(value);
    } while (token !== undefined);
  } catch (error) {
    yield { error };
  }
}

function continuationOf(list: unknown): string | undefined {
  const metadata = isJsonObject(list) ? list["metadata"] : undefined;
  const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
  return typeof token === "string" && token !== "" ? token : undefined;
}
