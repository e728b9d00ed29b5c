import { isApiError } from "../api/errors/api-error.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import type { Client } from "../client/client.ts";
import type { Moment } from "../insight/past/moment.ts";
import { revisionAt } from "../insight/past/read-past.ts";
import { isStep, stepText, storyPages } from "../insight/past/story.ts";
import { wrapText } from "../insight/text/text-width.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findText, type Command, type Io } from "./command.ts";
import { findMoment, fromOption } from "./past-options.ts";

/** Begin of a line after a break: below the texts. */
const INDENT = " ".repeat("14:02:11.204  rev 12345    ".length);

export const replayCommand: Command = {
  name: "replay",
  usage: [],
  help: "tell the changes of a cluster as a story",
  options: [
    fromOption,
    { flags: "-n, --namespace <name>", help: "only this namespace (default: all)" },
    { flags: "--all", help: "also bookkeeping: status, leases, counters" },
    ...accessOptions,
  ],
  async run(io, args) {
    const loop = createRealLoop({ name: "replay" });
    const from = findMoment(args, "from", loop.now());
    const connection = await connectAs(io, args, { loop });
    try {
      const { client } = connection;
      const after = from === undefined ? undefined : await findStart(io, client, from);
      const namespace = findText(args, "namespace") ?? "";
      for await (const changes of storyPages(client, { namespace, after })) {
        const shown = args.options["all"] === true ? changes : changes.filter(isStep);
        const columns = io.screen?.full.size.columns ?? Infinity;
        const lines = shown.flatMap((change) => wrapText(stepText(change).trimEnd(), columns, INDENT));
        io.stdout(lines.map((line) => `${line}\n`).join(""));
        if (io.signal.aborted) return;
      }
    } finally {
      await connection.close();
    }
  },
};

/** Undefined, with a note, for a moment before the first remembered write: the story then begins with that write. */
async function findStart(io: Io, client: Client, from: Moment): Promise<string | undefined> {
  try {
    return await revisionAt(client, from);
  } catch (error) {
    if (!isApiError(error, "Expired")) throw error;
    io.stderr("note: the story begins with the first write that this server remembers\n");
    return undefined;
  }
}
