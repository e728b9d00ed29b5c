import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { driftText } from "../insight/drift/drift-text.ts";
import { findDrift } from "../insight/drift/find-drift.ts";
import { parseMoment } from "../insight/past/moment.ts";
import { findStatusKinds } from "../insight/served-kind.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findText, jsonOption, UsageError, type Arguments, type Command } from "./command.ts";

export const driftCommand: Command = {
  name: "drift",
  usage: [],
  help: "list objects that are not as desired",
  options: [
    { flags: "--older-than <duration>", help: "only these; exit 1 if there are any" },
    { flags: "-n, --namespace <name>", help: "only this namespace (default: all)" },
    ...accessOptions,
    jsonOption,
  ],
  async run(io, args) {
    const loop = createRealLoop({ name: "drift" });
    const now = loop.now();
    const before = parseOlderThan(args, now);
    const connection = await connectAs(io, args, { loop });
    try {
      const { client } = connection;
      const types = await findStatusKinds(client);
      const all = await findDrift(client, types, { namespace: findText(args, "namespace"), now });
      const shown =
        before === undefined ? all : all.filter(({ since }) => since !== undefined && since <= before);
      const columns = io.screen?.full.size.columns;
      io.stdout(
        args.options["json"] === true ? `${JSON.stringify(shown)}\n` : driftText(shown, now, columns),
      );
      if (before !== undefined && shown.length > 0)
        throw new Error(
          `objects that differ for longer: ${String(shown.length)}; ask setpoint why about them`,
        );
    } finally {
      await connection.close();
    }
  },
};

/** Time before which a difference must have begun. */
function parseOlderThan(args: Arguments, now: number): number | undefined {
  const text = findText(args, "olderThan");
  if (text === undefined) return undefined;
  try {
    const moment = parseMoment(text, now);
    if (moment.type === "time" && moment.at <= now) return moment.at;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`--older-than must be a duration such as 5m, found "${text}"`);
}
