import { createRealLoop } from "../base/loop/real/real-loop.ts";
import type { Client } from "../client/client.ts";
import type { Moment } from "../insight/past/moment.ts";
import { differenceText, type Side } from "../insight/past/past-difference.ts";
import { findAt, revisionAt } from "../insight/past/read-past.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findTexts, UsageError, type Command } from "./command.ts";
import { namespaceOption, parseNamedObject, type NamedObject } from "./named-object.ts";
import { findMoment, fromOption } from "./past-options.ts";
import { diffManifests } from "./verbs/manifest-diff.ts";
import { filesOption, recursiveOption } from "./verbs/verb-options.ts";
import { withSession } from "./verbs/verb-session.ts";

export const diffCommand: Command = {
  name: "diff",
  isKubectlVerb: true,
  usage: ["[kind/name]"],
  failureCode: 2,
  help: "compare an object with its past, or -f FILE with the cluster",
  options: [
    fromOption,
    { flags: "--to <moment>", help: "end: a revision, a time, or -5m (default: now)" },
    filesOption,
    recursiveOption,
    namespaceOption,
    ...accessOptions,
  ],
  async run(io, args) {
    if (findTexts(args, "filename").length > 0) return withSession(io, args, diffManifests);
    const loop = createRealLoop({ name: "diff" });
    const from = findMoment(args, "from", loop.now());
    const to = findMoment(args, "to", loop.now());
    if (from === undefined)
      throw new UsageError("diff needs -f FILE, or KIND/NAME and --from, such as --from -10m");
    const connection = await connectAs(io, args, { loop });
    try {
      const { client } = connection;
      const asked = await parseNamedObject(args.operands["kind/name"] ?? "", args, connection);
      const [before, after] = [await sideAt(client, asked, from), await sideAt(client, asked, to)];
      const text = differenceText(before, after);
      io.stdout(text === "" ? `${after.title} is as at ${before.title.split(" at ")[1] ?? ""}\n` : text);
    } finally {
      await connection.close();
    }
  },
};

async function sideAt(client: Client, asked: NamedObject, moment: Moment | undefined): Promise<Side> {
  const { type, namespace, name } = asked;
  const key = { name, ...(type.namespaced && { namespace }) };
  const title = `${type.kind} ${type.namespaced ? `${namespace}/` : ""}${name}`;
  if (moment === undefined) return { title: `${title} now`, object: await client(type).find(key) };
  const revision = await revisionAt(client, moment);
  return { title: `${title} at rev ${revision}`, object: await findAt(client, type, { key, revision }) };
}
