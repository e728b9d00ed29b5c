import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { revisionAt } from "../insight/past/read-past.ts";
import { isStep, stepText, storyPages } from "../insight/past/story.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findText, type Command } from "./command.ts";
import { findMoment, fromOption } from "./past-options.ts";

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
    const connection = await connectAs(io, args, loop);
    try {
      const { client } = connection;
      const after = from === undefined ? undefined : await revisionAt(client, from);
      const namespace = findText(args, "namespace") ?? "";
      for await (const changes of storyPages(client, { namespace, after })) {
        const shown = args.options["all"] === true ? changes : changes.filter(isStep);
        io.stdout(shown.map(stepText).join(""));
        if (io.signal.aborted) return;
      }
    } finally {
      await connection.close();
    }
  },
};
