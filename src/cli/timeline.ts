import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { ALL_CHANGES, ChangeReader, unrecordedTexts } from "../insight/causes/read-changes.ts";
import { parseMoment } from "../insight/past/moment.ts";
import { timelineOf, timelineText } from "../insight/past/timeline.ts";
import { FactReader } from "../insight/stuck/fact-reader.ts";
import { eventsOf } from "../insight/stuck/gather-situation.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findText, jsonOption, UsageError, type Arguments, type Command } from "./command.ts";
import { namespaceOption, parseNamedObject } from "./named-object.ts";

export const timelineCommand: Command = {
  name: "timeline",
  usage: ["kind/name"],
  help: "show each change of an object with author and cause",
  options: [
    { flags: "--since <duration>", help: "only the last 10m, 1h …" },
    namespaceOption,
    ...accessOptions,
    jsonOption,
  ],
  async run(io, args) {
    const loop = createRealLoop({ name: "timeline" });
    const since = parseSince(args, loop.now());
    const connection = await connectAs(io, args, { loop });
    try {
      const { client } = connection;
      const { type, namespace, name } = await parseNamedObject(
        args.operands["kind/name"] ?? "",
        args,
        connection,
      );
      const group = type.apiVersion.includes("/") ? (type.apiVersion.split("/")[0] ?? "") : "";
      const reader = new ChangeReader(client, ALL_CHANGES);
      const [known, events] = await Promise.all([
        reader.of({ group, kind: type.kind, namespace, name }),
        eventsOf(new FactReader(client), {
          apiVersion: type.apiVersion,
          kind: type.kind,
          metadata: { name, namespace },
        }),
      ]);
      const { items, cut } = known;
      if (items.length === 0 && reader.problem === undefined && events.length === 0)
        throw new Error(`${type.plural} "${name}" not found, and no change of it is remembered`);
      const entries = timelineOf(items, events).filter(
        ({ time }) => time === undefined || Date.parse(time) >= since,
      );
      if (args.options["json"] === true) io.stdout(`${JSON.stringify(entries)}\n`);
      else io.stdout(timelineText(entries, io.screen?.full.size.columns));
      for (const note of [reader.problem, cut, ...unrecordedTexts(known)])
        if (note !== undefined) io.stderr(`note: ${note}\n`);
    } finally {
      await connection.close();
    }
  },
};

/** Milliseconds since the epoch. */
function parseSince(args: Arguments, now: number): number {
  const text = findText(args, "since");
  if (text === undefined) return 0;
  try {
    const moment = parseMoment(text, now);
    if (moment.type === "time") return moment.at;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`--since must be a duration such as 10m, found "${text}"`);
}
