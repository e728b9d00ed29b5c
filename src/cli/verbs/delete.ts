/** `setpoint delete`. Waits until the objects are gone, as kubectl does. */
import type { DeleteOptions } from "../../client/client.ts";
import { groupOf } from "../../client/served-resources.ts";
import { findText, findTexts, UsageError, type Arguments, type Command } from "../command.ts";
import { FailureList } from "./failure-list.ts";
import { findObjects, type FoundObject } from "./found-objects.ts";
import { readManifests } from "./manifest-files.ts";
import { placeManifest } from "./manifest-place.ts";
import { poll } from "./poll.ts";
import {
  allNamespacesOption,
  fieldSelectorOption,
  filesOption,
  parseTimeout,
  recursiveOption,
  selectorOption,
  verbOptions,
  WEEK_MS,
} from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

export const deleteCommand: Command = {
  name: "delete",
  usage: ["[objects...]"],
  help: "delete objects: TYPE NAME, TYPE/NAME or -f FILE",
  options: [
    filesOption,
    recursiveOption,
    selectorOption,
    fieldSelectorOption,
    allNamespacesOption,
    { flags: "--all", help: "all objects of the type in the namespace" },
    { flags: "--grace-period <seconds>", help: "time to end gracefully (default: the object's)" },
    { flags: "--now", help: "grace period of one second" },
    { flags: "--force", help: "with --grace-period=0: do not wait for the node" },
    {
      flags: "--cascade <mode>",
      help: "fate of dependents",
      choices: ["background", "foreground", "orphan"],
      fallback: "background",
    },
    {
      flags: "--wait [bool]",
      help: "wait until they are gone (default: true)",
      choices: ["true", "false"],
    },
    { flags: "--timeout <duration>", help: "longest wait (default: no limit)" },
    { flags: "--ignore-not-found", help: "missing objects are no error" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, deleteObjects),
};

async function deleteObjects(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const options = deleteOptions(args);
  const failures = new FailureList(io, args.options["ignoreNotFound"] === true ? ["NotFound"] : []);
  const found =
    findTexts(args, "filename").length > 0
      ? await objectsInFiles(session, failures)
      : await findObjects(session, failures);
  const deleted: FoundObject[] = [];
  for (const each of found)
    await failures.collect(async () => {
      await session.client(each.resource).delete(each.object, options);
      io.stdout(`${deletedText(each, args)}\n`);
      deleted.push(each);
    });
  if (args.options["wait"] !== "false")
    for (const each of deleted) await failures.collect(() => untilGone(each, session));
  if (found.length === 0 && failures.isEmpty && !isNamed(args)) io.stdout("No resources found\n");
  failures.throwIfAny();
}

/** Objects that are missing by name are failures, or ignored. */
function isNamed(args: Arguments): boolean {
  return args.rest.length > 1 || (args.rest[0]?.includes("/") ?? false);
}

function deleteOptions(args: Arguments): DeleteOptions {
  const policies = { background: "Background", foreground: "Foreground", orphan: "Orphan" } as const;
  const cascade = (findText(args, "cascade") ?? "background") as keyof typeof policies;
  const seconds = findText(args, "gracePeriod");
  if (seconds !== undefined && !/^\d+$/.test(seconds))
    throw new UsageError(`--grace-period must be a number of seconds, found "${seconds}"`);
  if (args.options["force"] === true && seconds !== "0")
    throw new UsageError("--force needs --grace-period=0: the objects are removed without their node's word");
  const grace = args.options["now"] === true ? 1 : seconds === undefined ? undefined : Number(seconds);
  return {
    propagationPolicy: policies[cascade],
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
  };
}

/** `pod "a" deleted`, `deployment.apps "b" force deleted`. */
function deletedText({ resource, object }: FoundObject, args: Arguments): string {
  const group = groupOf(resource);
  const type = `${resource.kind.toLowerCase()}${group === "" ? "" : `.${group}`}`;
  return `${type} "${object.metadata.name}" ${args.options["force"] === true ? "force " : ""}deleted`;
}

async function objectsInFiles(session: VerbSession, failures: FailureList): Promise<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  for (const manifest of await readManifests(session))
    await failures.collect(async () => {
      const { type, manifest: placed } = await placeManifest(manifest, session);
      const { namespace = "", name } = placed.metadata;
      found.push({ resource: type, object: await session.client(type).get({ namespace, name }) });
    });
  return found;
}

async function untilGone({ resource, object }: FoundObject, session: VerbSession): Promise<void> {
  const { client, loop, args, io } = session;
  const { signal } = io;
  const timeoutMs = parseTimeout(args, "timeout", WEEK_MS);
  const isGone = async (): Promise<boolean> => {
    const now = await client(resource).find({
      namespace: object.metadata.namespace ?? "",
      name: object.metadata.name ?? "",
    });
    return now === undefined || now.metadata.uid !== object.metadata.uid;
  };
  if (await poll({ loop, signal, timeoutMs }, isGone)) return;
  throw new Error(
    `timed out waiting for ${resource.plural}/${object.metadata.name} to go: its finalizers or its node hold it`,
  );
}
