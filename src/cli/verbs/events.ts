/** `setpoint events`: the Events of a namespace or of one object, oldest first. */
import { collectionPath } from "../../api/api-object.ts";
import { Event } from "../../api/generated/types/core-v1.ts";
import { resourcesNamed } from "../../client/served-resources.ts";
import { humanDuration, findTimeMs } from "../../resources/rules/human-duration.ts";
import { findText, UsageError, type Arguments, type Command } from "../command.ts";
import { changesOf } from "./follow.ts";
import { TablePrinter } from "./table-text.ts";
import { allNamespacesOption, verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

export const eventsCommand: Command = {
  name: "events",
  isKubectlVerb: true,
  usage: [],
  help: "show Events, the oldest first",
  options: [
    { flags: "--for <object>", help: "only Events about TYPE/NAME" },
    { flags: "--types <types>", help: "only these types: Normal,Warning" },
    { flags: "-w, --watch", help: "new Events too, until Ctrl-C" },
    allNamespacesOption,
    { flags: "--no-headers", help: "table without headers" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, events),
};

async function events(session: VerbSession): Promise<void> {
  const { io, args, namespace, client } = session;
  const isWanted = wantedTypes(args);
  const query = objectQuery(session);
  const found: Event[] = [];
  let version = "";
  for await (const { items, metadata } of client(Event).pages({
    ...query,
    ...(namespace !== undefined && { namespace }),
  })) {
    found.push(...items.filter(isWanted));
    version = metadata.resourceVersion;
  }
  const isWatch = args.options["watch"] === true;
  const textOf = eventPrinter(session);
  if (found.length > 0) io.stdout(textOf(found.toSorted((left, right) => lastSeen(left) - lastSeen(right))));
  else if (!isWatch)
    io.stderr(
      namespace === undefined ? "No events found.\n" : `No events found in ${namespace} namespace.\n`,
    );
  if (!isWatch) return;
  const path = collectionPath(Event, namespace);
  for await (const { type, object } of changesOf(session, { path, query, form: "object", version })) {
    const event = object as Event;
    // Events are deleted when they are old.
    if (type !== "DELETED" && isWanted(event)) io.stdout(textOf([event]));
  }
}

function wantedTypes(args: Arguments): (event: Event) => boolean {
  const types = findText(args, "types")?.toLowerCase().split(",");
  const unknown = types?.find((type) => type !== "normal" && type !== "warning");
  if (unknown !== undefined) throw new UsageError(`--types must be Normal or Warning, found "${unknown}"`);
  return ({ type = "" }) => types === undefined || types.includes(type.toLowerCase());
}

/** Prints Events that follow each other. */
function eventPrinter({ args, namespace, loop }: VerbSession): (events: readonly Event[]) => string {
  const printer = new TablePrinter({
    isWide: false,
    withNamespace: namespace === undefined,
    withHeaders: args.options["headers"] !== false,
    withLabels: false,
    namePrefix: "",
  });
  return (shown) => {
    const rows = shown.map((event) => ({ cells: cellsOf(event, loop.now()), object: event }));
    return printer.print({ columnDefinitions: COLUMNS, rows });
  };
}

const COLUMNS = ["Last Seen", "Type", "Reason", "Object", "Message"].map((name) => ({ name }));

function objectQuery({ args, served }: VerbSession): Readonly<Record<string, string>> {
  const about = findText(args, "for");
  if (about === undefined) return {};
  const [type = "", name = ""] = about.split("/");
  if (type === "" || name === "") throw new UsageError(`--for must be TYPE/NAME, found "${about}"`);
  const [{ kind, apiVersion } = { kind: "", apiVersion: "" }] = resourcesNamed(type, served);
  const fields = { kind, apiVersion, name };
  const parts = Object.entries(fields).map(([field, value]) => `involvedObject.${field}=${value}`);
  return { fieldSelector: parts.join(",") };
}

function cellsOf(event: Event, now: number): readonly string[] {
  const { type = "", reason = "", message = "", involvedObject } = event;
  const object = `${involvedObject.kind ?? ""}/${involvedObject.name ?? ""}`;
  return [lastSeenText(event, now), type, reason, object, message.trim()];
}

/** `2m`, or `2m (x5 over 10m)` for a repeated Event. */
function lastSeenText(event: Event, now: number): string {
  const since = (time: string | undefined): string => {
    const ms = findTimeMs(time);
    return ms === undefined ? "<unknown>" : humanDuration(now - ms);
  };
  const first = since(event.eventTime ?? event.firstTimestamp);
  const { series, count = 0 } = event;
  if (series !== undefined)
    return `${since(series.lastObservedTime)} (x${String(series.count ?? 0)} over ${first})`;
  return count > 1 ? `${since(event.lastTimestamp)} (x${String(count)} over ${first})` : first;
}

function lastSeen({ series, lastTimestamp, eventTime, metadata }: Event): number {
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return findTimeMs(time) ?? 0;
}
