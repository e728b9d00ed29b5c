/** `setpoint apply`: server-side apply of manifests. */
import { isApiError } from "../../api/errors/api-error.ts";
import { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import { kindText } from "../../client/served-resources.ts";
import { findText, type Command } from "../command.ts";
import { FailureList } from "./failure-list.ts";
import { readManifests } from "./manifest-files.ts";
import { placeManifest, type PlacedManifest } from "./manifest-place.ts";
import { poll } from "./poll.ts";
import { filesOption, recursiveOption, verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

/** Upper bound of the wait until the server serves a new kind. */
const ESTABLISHED_WITHIN_MS = 10_000;

export const applyCommand: Command = {
  name: "apply",
  isKubectlVerb: true,
  usage: [],
  help: "make objects as manifests declare (server-side apply)",
  options: [
    filesOption,
    recursiveOption,
    { flags: "--field-manager <name>", help: "owner of the fields", fallback: "kubectl" },
    { flags: "--force-conflicts", help: "take over fields of other owners" },
    {
      flags: "--dry-run <mode>",
      help: "validate without storing",
      choices: ["server", "none"],
      fallback: "none",
    },
    { flags: "--server-side", help: "no effect: apply is always server-side" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, apply),
};

async function apply(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const isDryRun = findText(args, "dryRun") === "server";
  const failures = new FailureList(io);
  for (const manifest of await readManifests(session))
    await failures.collect(async () => {
      const placed = await placeManifest(manifest, session);
      await applyOne(placed, session);
      const suffix = isDryRun ? " (server dry run)" : "";
      io.stdout(`${kindText(placed.type)}/${manifest.metadata.name} serverside-applied${suffix}\n`);
      if (!isDryRun && manifest.kind === CustomResourceDefinition.kind)
        await untilServed(manifest.metadata.name, session);
    });
  failures.throwIfAny();
}

async function applyOne({ manifest }: PlacedManifest, { client, args }: VerbSession): Promise<void> {
  try {
    await client.apply(manifest, {
      fieldManager: findText(args, "fieldManager") ?? "kubectl",
      force: args.options["forceConflicts"] === true,
      fieldValidation: "Strict",
      ...(findText(args, "dryRun") === "server" && { dryRun: "All" }),
    });
  } catch (error) {
    if (!isApiError(error, "Conflict") || !error.message.includes("conflict")) throw error;
    throw new Error(`${error.message}: leave these fields out, or take them over with --force-conflicts`, {
      cause: error,
    });
  }
}

/** Objects of the new kind may follow in the same files. */
async function untilServed(name: string, { client, loop, io: { signal } }: VerbSession): Promise<void> {
  const isServed = async (): Promise<boolean> => {
    const { status } = await client(CustomResourceDefinition).get({ name });
    return (status?.conditions ?? []).some(
      ({ type, status: value }) => type === "Established" && value === "True",
    );
  };
  await poll({ loop, signal, timeoutMs: ESTABLISHED_WITHIN_MS }, isServed);
}
