/** `setpoint get --watch`: the table, then a row for each change. */
import { collectionPath } from "../../api/api-object.ts";
import { UsageError } from "../command.ts";
import { selectorQuery } from "./found-objects.ts";
import { tableIn } from "./server-table.ts";
import { TablePrinter, type TableView } from "./table-text.ts";
import type { Target } from "./targets.ts";
import type { VerbSession } from "./verb-session.ts";

export async function watchTable(
  session: VerbSession,
  targets: readonly Target[],
  viewOf: (session: VerbSession, target: Target, isPrefixed: boolean) => TableView,
): Promise<void> {
  const [target, ...others] = targets;
  const [name, ...more] = target?.names ?? [];
  if (target === undefined || others.length + more.length > 0)
    throw new UsageError("--watch follows one object, or all of one type");
  const printer = new TablePrinter(viewOf(session, target, false));
  const query = {
    ...selectorQuery(session.args),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  };
  const path = collectionPath(target.resource, session.namespace);
  const listed = tableIn(await session.client.request({ path, query, form: "table" }));
  if (listed.rows.length > 0) session.io.stdout(printer.print(listed));
  let version = listed.metadata?.resourceVersion ?? "";
  // The server ends a watch after some minutes.
  while (!session.io.signal.aborted) version = await followOnce(session, { path, query, version, printer });
}

interface Following {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly version: string;
  readonly printer: TablePrinter;
}

/** Version of the last event. */
async function followOnce(
  session: VerbSession,
  { path, query, version, printer }: Following,
): Promise<string> {
  const { signal } = session.io;
  const request = { method: "GET", path, form: "table", signal } as const;
  const watching = { ...query, watch: "true", resourceVersion: version };
  const { items, refusal } = await session.transport.watch({ ...request, query: watching });
  if (refusal !== undefined) throw new Error(refusal.message ?? "the server refused the watch");
  let last = version;
  for await (const { type, object } of eventsOf(items)) {
    if (type === "ERROR") throw new Error("the server ended the watch: run the command again");
    const table = tableIn(object);
    if (type !== "BOOKMARK") session.io.stdout(printer.print(table));
    last = table.rows[0]?.object?.metadata?.resourceVersion ?? last;
  }
  return last;
}

async function* eventsOf<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
