/** `setpoint diff -f`: changes that an apply of the manifests would make. Fails when there are some, as kubectl does. */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { SilentFailure } from "../command.ts";
import { readManifests, type FileManifest } from "./manifest-files.ts";
import { placeManifest } from "./manifest-place.ts";
import { objectText, withoutManagedFields } from "./object-text.ts";
import { unifiedDiff } from "./unified-diff.ts";
import type { VerbSession } from "./verb-session.ts";

/** Shown in place of the values of Secrets. */
const MASK = "***";
const MASK_BEFORE = "*** (before)";
const MASK_AFTER = "*** (after)";

export async function diffManifests(session: VerbSession): Promise<void> {
  const { io } = session;
  let hasChanges = false;
  for (const manifest of await readManifests(session)) {
    const text = await diffText(manifest, session);
    if (text !== "") hasChanges = true;
    io.stdout(text);
  }
  if (hasChanges) throw new SilentFailure();
}

async function diffText(manifest: FileManifest, session: VerbSession): Promise<string> {
  const { type, manifest: placed } = await placeManifest(manifest, session);
  const { namespace = "", name } = placed.metadata;
  const live = await session.client(type).find({ namespace, name });
  const options = { fieldManager: "kubectl", force: true, dryRun: "All" } as const;
  const merged = await session.client.apply(placed, options);
  const file = [type.apiVersion.replace("/", "."), type.kind, namespace, name].join(".");
  const [before, after] = maskedSecrets(shown(live), shown(merged));
  return unifiedDiff(
    { name: `LIVE/${file}`, text: before === undefined ? "" : objectText(before, "yaml") },
    { name: `MERGED/${file}`, text: after === undefined ? "" : objectText(after, "yaml") },
  );
}

function shown(object: ApiObject | undefined): JsonObject | undefined {
  return object === undefined ? undefined : withoutManagedFields({ ...object });
}

type Pair = readonly [before: JsonObject | undefined, after: JsonObject | undefined];

/** Hides the values of Secrets; a changed value stays visible as a change. */
function maskedSecrets(before: JsonObject | undefined, after: JsonObject | undefined): Pair {
  if ((after ?? before)?.["kind"] !== "Secret") return [before, after];
  const [old, fresh] = [dataOf(before), dataOf(after)];
  const mask = (own: JsonObject, other: JsonObject, changed: string): JsonObject =>
    Object.fromEntries(
      Object.keys(own).map((key) => [key, key in other && other[key] !== own[key] ? changed : MASK]),
    );
  return [
    before === undefined ? undefined : { ...withoutApplied(before), data: mask(old, fresh, MASK_BEFORE) },
    after === undefined ? undefined : { ...withoutApplied(after), data: mask(fresh, old, MASK_AFTER) },
  ];
}

/** The annotation in which kubectl keeps what it applied: it has the values too. */
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function withoutApplied(secret: JsonObject): JsonObject {
  const { metadata } = secret;
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  if (!isJsonObject(metadata) || !isJsonObject(annotations) || !(APPLIED in annotations)) return secret;
  return { ...secret, metadata: { ...metadata, annotations: { ...annotations, [APPLIED]: MASK } } };
}

function dataOf(secret: JsonObject | undefined): JsonObject {
  const data = secret?.["data"];
  return isJsonObject(data) ? data : {};
}
