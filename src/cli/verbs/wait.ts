/** `setpoint wait`. */
import { kindText, type ServedResource } from "../../client/served-resources.ts";
import { findText, type Command } from "../command.ts";
import { FailureList } from "./failure-list.ts";
import { selected } from "./found-objects.ts";
import { readNamed } from "./missing-namespace.ts";
import { poll } from "./poll.ts";
import { targetsOf } from "./targets.ts";
import {
  allNamespacesOption,
  fieldSelectorOption,
  parseTimeout,
  selectorOption,
  verbOptions,
  WEEK_MS,
} from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";
import { parseWaitCondition, type WaitCondition } from "./wait-condition.ts";

const DEFAULT_MS = 30_000;

export const waitCommand: Command = {
  name: "wait",
  isKubectlVerb: true,
  usage: ["[objects...]"],
  help: "wait for a condition of objects: TYPE NAME or TYPE/NAME",
  options: [
    { flags: "--for <condition>", help: "create, delete, condition=NAME, jsonpath='{PATH}'=VALUE" },
    { flags: "--timeout <duration>", help: "longest wait; negative: a week", fallback: "30s" },
    selectorOption,
    fieldSelectorOption,
    allNamespacesOption,
    { flags: "--all", help: "all objects of the type in the namespace" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, wait),
};

/** An object to wait for, which may not exist. */
interface Awaited {
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly name: string;
  /** Uid at the start: another object may get the name later. */
  readonly uid?: string;
}

async function wait(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const condition = parseWaitCondition(findText(args, "for") ?? "");
  const timeoutMs = parseTimeout(args, "timeout", DEFAULT_MS);
  const end = session.loop.now() + (timeoutMs < 0 ? WEEK_MS : timeoutMs);
  const failures = new FailureList(io);
  const awaited = await awaitedObjects(session, condition);
  if (awaited.length === 0 && condition.type === "delete") return;
  if (awaited.length === 0) throw new Error("no matching resources found");
  for (const each of awaited)
    await failures.collect(async () => {
      const options = {
        loop: session.loop,
        signal: io.signal,
        timeoutMs: Math.max(0, end - session.loop.now()),
      };
      const isMet = await poll(options, () => holds(each, condition, session));
      const { resource, name } = each;
      if (!isMet) throw new Error(`timed out waiting for the condition on ${resource.plural}/${name}`);
      io.stdout(`${kindText(resource)}/${name} condition met\n`);
    });
  failures.throwIfAny();
}

async function awaitedObjects(session: VerbSession, { type }: WaitCondition): Promise<readonly Awaited[]> {
  const awaited: Awaited[] = [];
  for (const target of targetsOf(session.args.rest, session)) {
    const { resource, names } = target;
    if (names === undefined) {
      const found = await selected(target, session);
      awaited.push(
        ...found.map(({ object: { metadata } }) => ({
          resource,
          namespace: metadata.namespace ?? "",
          name: metadata.name ?? "",
          ...(metadata.uid !== undefined && { uid: metadata.uid }),
        })),
      );
      continue;
    }
    for (const name of names) {
      const namespace = resource.namespaced ? (session.namespace ?? "") : "";
      const object =
        type === "state"
          ? await readNamed(session, namespace, () => session.client(resource).get({ namespace, name }))
          : await session.client(resource).find({ namespace, name });
      // An object that is gone already is not mentioned, as by kubectl.
      if (object === undefined && type === "delete") continue;
      awaited.push({
        resource,
        namespace,
        name,
        ...(object?.metadata.uid !== undefined && { uid: object.metadata.uid }),
      });
    }
  }
  return awaited;
}

async function holds(
  { resource, namespace, name, uid }: Awaited,
  condition: WaitCondition,
  { client }: VerbSession,
): Promise<boolean> {
  const object = await client(resource).find({ namespace, name });
  switch (condition.type) {
    case "create":
      return object !== undefined;
    case "delete":
      return object === undefined || object.metadata.uid !== uid;
    case "state":
      return object !== undefined && condition.holds(object);
  }
}
