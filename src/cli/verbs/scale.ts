/** `setpoint scale`. */
import { kindText } from "../../client/served-resources.ts";
import { findText, UsageError, type Command } from "../command.ts";
import { FailureList } from "./failure-list.ts";
import { findObjects } from "./found-objects.ts";
import { selectorOption, verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

export const scaleCommand: Command = {
  name: "scale",
  isKubectlVerb: true,
  usage: ["[objects...]"],
  help: "set the replicas of objects: TYPE NAME or TYPE/NAME",
  options: [
    { flags: "--replicas <count>", help: "number of replicas" },
    selectorOption,
    { flags: "--all", help: "all objects of the type in the namespace" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, scale),
};

async function scale(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const replicas = findText(args, "replicas");
  if (replicas === undefined) throw new UsageError("say how many: --replicas=COUNT");
  if (!/^\d+$/.test(replicas)) throw new UsageError(`--replicas must be a number, found "${replicas}"`);
  const failures = new FailureList(io);
  const found = await findObjects(session, failures);
  if (found.length === 0 && failures.isEmpty) throw new Error("no objects passed to scale");
  for (const { resource, object } of found)
    await failures.collect(async () => {
      await session.client(resource).scale(object, Number(replicas));
      io.stdout(`${kindText(resource)}/${object.metadata.name} scaled\n`);
    });
  failures.throwIfAny();
}
