/** `setpoint events`: the Events of a namespace or of one object, oldest first. */
import { Event } from "../../api/generated/types/core-v1.ts";
import { resourcesNamed } from "../../client/served-resources.ts";
import { humanDuration, findTimeMs } from "../../resources/rules/human-duration.ts";
import { findText, UsageError, type Command } from "../command.ts";
import { TablePrinter } from "./table-text.ts";
import { allNamespacesOption, verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

export const eventsCommand: Command = {
  name: "events",
  usage: [],
  help: "show Events, the oldest first",
  options: [
    { flags: "--for <object>", help: "only Events about TYPE/NAME" },
    { flags: "--types <types>", help: "only these types: Normal,Warning" },
    allNamespacesOption,
    { flags: "--no-headers", help: "table without headers" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, events),
};

async function events(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const { namespace, client, loop } = session;
  const types = findText(args, "types")?.toLowerCase().split(",");
  const fieldSelector = fieldSelectorOf(session);
  const found: Event[] = [];
  const options = { ...(namespace !== undefined && { namespace }), ...fieldSelector };
  for await (const { items } of client(Event).pages(options)) found.push(...items);
  const shown = found
    .filter(({ type = "" }) => types === undefined || types.includes(type.toLowerCase()))
    .toSorted((left, right) => lastSeen(left) - lastSeen(right));
  if (shown.length === 0) {
    io.stderr(namespace === undefined ? "No events found\n" : `No events found in ${namespace} namespace.\n`);
    return;
  }
  const printer = new TablePrinter({
    isWide: false,
    withNamespace: namespace === undefined,
    withHeaders: args.options["headers"] !== false,
    withLabels: false,
    namePrefix: "",
  });
  const columnDefinitions = ["Last Seen", "Type", "Reason", "Object", "Message"].map((name) => ({ name }));
  const rows = shown.map((event) => ({ cells: cellsOf(event, loop.now()), object: event }));
  io.stdout(printer.print({ columnDefinitions, rows }));
}

function fieldSelectorOf({ args, served }: VerbSession): { readonly fieldSelector?: string } {
  const about = findText(args, "for");
  if (about === undefined) return {};
  const [type = "", name = ""] = about.split("/");
  if (type === "" || name === "") throw new UsageError(`--for must be TYPE/NAME, found "${about}"`);
  const [resource] = resourcesNamed(type, served);
  return { fieldSelector: `involvedObject.kind=${resource?.kind ?? ""},involvedObject.name=${name}` };
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
