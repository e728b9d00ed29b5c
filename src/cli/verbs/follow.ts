/** Changes of a collection from a version on, until the program is asked to end. */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { ResponseForm, TransportEvent } from "../../client/transport.ts";
import { tableIn } from "./server-table.ts";
import type { VerbSession } from "./verb-session.ts";

export interface Followed {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly form: ResponseForm;
  /** Version of the list before the first change. */
  readonly version: string;
}

/** Rejects when the server no longer has the changes after the last one seen. */
export async function* changesOf(session: VerbSession, followed: Followed): AsyncGenerator<TransportEvent> {
  let { version } = followed;
  // The server ends a watch after some minutes.
  while (!session.io.signal.aborted)
    for await (const event of watchOnce(session, { ...followed, version })) {
      if (event.type === "ERROR") throw new Error("the server ended the watch: run the command again");
      version = versionOf(event.object) ?? version;
      if (event.type !== "BOOKMARK") yield event;
    }
}

/** Version of a response: a list, a table or an object. */
export function versionOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const first = value["kind"] === "Table" ? tableIn(value).rows[0]?.object : undefined;
  const metadata = first?.metadata ?? value["metadata"];
  const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" && version !== "" ? version : undefined;
}

async function* watchOnce(
  { io: { signal }, transport }: VerbSession,
  { path, query, form, version }: Followed,
): AsyncGenerator<TransportEvent> {
  const watching = { ...query, watch: "true", resourceVersion: version };
  try {
    const { items, refusal } = await transport.watch({ method: "GET", path, form, signal, query: watching });
    if (refusal !== undefined) throw new Error(refusal.message ?? "the server refused the watch");
    for await (const batch of items) yield* batch;
  } catch (error) {
    // Ctrl-C is how a user ends it.
    if (!signal.aborted) throw error;
  }
}
