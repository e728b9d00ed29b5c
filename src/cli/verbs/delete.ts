/** `setpoint delete`. Waits until the objects are gone, as kubectl does. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { DeleteOptions } from "../../client/client.ts";
import { groupOf } from "../../client/served-resources.ts";
import { findText, findTexts, UsageError, type Arguments, type Command } from "../command.ts";
import { FailureList } from "./failure-list.ts";
import { selected, type FoundObject } from "./found-objects.ts";
import { readManifests } from "./manifest-files.ts";
import { placeManifest } from "./manifest-place.ts";
import { poll } from "./poll.ts";
import { refuseNamesBesideChoice, targetsOf } from "./targets.ts";
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
  isKubectlVerb: true,
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
    { flags: "--force", help: "do not wait for the node (implies --grace-period=0)" },
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
  if (options.gracePeriodSeconds === 0)
    session.warn("the objects are removed without their node's word: their processes may go on running");
  const failures = new FailureList(io, args.options["ignoreNotFound"] === true ? ["NotFound"] : []);
  const found =
    findTexts(args, "filename").length > 0
      ? await objectsInFiles(session, failures)
      : await objectsOf(session);
  const deleted: FoundObject[] = [];
  for (const each of found)
    await failures.collect(async () => {
      deleted.push({ ...each, object: await deleteOne(session, each, options) });
      io.stdout(`${deletedText(each, args)}\n`);
    });
  if (args.options["wait"] !== "false")
    for (const each of deleted) await failures.collect(() => untilGone(each, session));
  if (found.length === 0 && failures.isEmpty && !isNamed(args)) io.stdout("No resources found\n");
  failures.throwIfAny();
}

/** Named objects are not read first: a user may delete what they may not get. */
async function objectsOf(session: VerbSession): Promise<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  const targets = targetsOf(session.args.rest, session);
  refuseNamesBesideChoice(session, targets);
  for (const target of targets) {
    const { resource, names } = target;
    if (names === undefined) found.push(...(await selected(target, session)));
    else found.push(...names.map((name) => referenceTo(resource, { name, namespace: session.namespace })));
  }
  return found;
}

function referenceTo(
  resource: ResourceType,
  { name, namespace = "" }: { readonly name: string; readonly namespace?: string | undefined },
): FoundObject {
  const metadata = { name, ...(resource.namespaced && { namespace }) };
  return { resource, object: { apiVersion: resource.apiVersion, kind: resource.kind, metadata } };
}

/** The object as the server last saw it, or the reference. */
async function deleteOne(
  { client }: VerbSession,
  { resource, object }: FoundObject,
  options: DeleteOptions,
): Promise<ApiObject> {
  let last = object;
  const noting = client.with({ onWrite: (written) => (last = written.object) });
  await noting(resource).delete(object, options);
  return last;
}

/** Objects that are missing by name are failures, or ignored. */
function isNamed(args: Arguments): boolean {
  return args.rest.length > 1 || (args.rest[0]?.includes("/") ?? false);
}

function deleteOptions(args: Arguments): DeleteOptions {
  const policies = { background: "Background", foreground: "Foreground", orphan: "Orphan" } as const;
  const cascade = (findText(args, "cascade") ?? "background") as keyof typeof policies;
  const grace = graceSeconds(args);
  return {
    propagationPolicy: policies[cascade],
    ...(grace >= 0 && { gracePeriodSeconds: grace }),
  };
}

/** Negative: the object's own. */
function graceSeconds(args: Arguments): number {
  const isForced = args.options["force"] === true;
  const text = findText(args, "gracePeriod") ?? (isForced ? "0" : "-1");
  if (!/^-?\d+$/.test(text))
    throw new UsageError(`--grace-period must be a number of seconds, found "${text}"`);
  const seconds = Number(text);
  if (isForced && seconds > 0)
    throw new UsageError("--force means --grace-period=0: leave one of the two out");
  if (args.options["now"] === true) return 1;
  // Only --force skips the node; without it kubectl gives the node a second, too.
  return seconds === 0 && !isForced ? 1 : seconds;
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
      const { namespace, name } = placed.metadata;
      found.push(referenceTo(type, { name, namespace }));
    });
  return found;
}

async function untilGone({ resource, object }: FoundObject, session: VerbSession): Promise<void> {
  const { client, loop, args, io } = session;
  const { signal } = io;
  const timeoutMs = parseTimeout(args, "timeout", 0);
  const { namespace = "", name = "", uid } = object.metadata;
  const isGone = async (): Promise<boolean> => {
    const now = await client(resource)
      .find({ namespace, name })
      .catch((error: unknown) => {
        // A user who may not look need not wait.
        if (isApiError(error, "Forbidden")) return undefined;
        throw error;
      });
    return now === undefined || (uid !== undefined && now.metadata.uid !== uid);
  };
  if (await poll({ loop, signal, timeoutMs: timeoutMs > 0 ? timeoutMs : WEEK_MS }, isGone)) return;
  throw new Error(
    `timed out waiting for ${resource.plural}/${object.metadata.name} to go: its finalizers or its node hold it`,
  );
}
