import { badRequest, generateNameConflict, isApiError } from "../../api/api-error.ts";
import { generateName } from "../../api/names.ts";
import type { ApiObject, Draft } from "../../resources/kind-rules.ts";
import type { AdmissionPass } from "../admission/admission.ts";
import { callPass } from "../admission/call-pass.ts";
import type { Answer, ObjectAnswer, StoredAnswer } from "../answer.ts";
import type { Call, Workshop } from "../call.ts";
import type { StoredResource } from "../registry.ts";
import { expectedKind, readObject } from "../write/incoming.ts";
import { groupResource, ObjectWriter } from "../write/object-writer.ts";
import type { Saved } from "../write/object-writer.ts";
import { admittedDraft, admittedObject } from "../write/revise.ts";
import { track, writerOf } from "../write/tracking.ts";
import { writeOptionsOf } from "../write/write-options.ts";

/** As upstream's. */
const NAME_TRIES = 8;

export async function create(call: Call<StoredResource>, workshop: Workshop): Promise<Answer> {
  const { resource, request, query } = call;
  const { object, warnings, sentManagedFields } = await readObject(request, expectedKind(resource), query);
  const draft = object as Draft<ApiObject>;
  placeInNamespace(draft, call);
  if ((draft.metadata.resourceVersion ?? "") !== "") {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  const admission = callPass({ call, workshop }, "CREATE", nameOf(draft));
  const waiting = admission?.ready(draft);
  if (waiting !== undefined) await waiting;
  const saved = await createNamed({ draft, sentManagedFields, admission }, call, workshop);
  return { ...shown(saved, resource, 201), warnings: [...warnings, ...warningsOf(draft, call)] };
}

/** People are told what they should not write; a subresource writes what they did not. */
export function warningsOf(object: ApiObject, { resource, info }: Call<StoredResource>): readonly string[] {
  return info.subresource === "" ? (resource.rules.warnings?.(object, undefined) ?? []) : [];
}

export function shown(saved: Saved, resource: StoredResource, code: number): StoredAnswer | ObjectAnswer {
  if (saved.outcome === "stored") return { type: "stored", code, stored: saved.stored, resource };
  return { type: "object", code, object: saved.object };
}

function placeInNamespace(draft: Draft<ApiObject>, { resource, info }: Call<StoredResource>): void {
  const { metadata } = draft;
  if (!resource.facts.namespaced) return;
  if (info.namespace === "") throw badRequest("an empty namespace may not be set during creation");
  if ((metadata.namespace ?? info.namespace) !== info.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.namespace = info.namespace;
}

/** Its beginning, while it is still to be generated. */
function nameOf({ metadata }: ApiObject): string {
  const { name = "", generateName: base = "" } = metadata;
  return name === "" ? base : name;
}

interface New {
  readonly draft: Draft<ApiObject>;
  readonly sentManagedFields: unknown;
  readonly admission: AdmissionPass | undefined;
}

async function createNamed(
  { draft, sentManagedFields, admission }: New,
  call: Call<StoredResource>,
  workshop: Workshop,
): Promise<Saved> {
  const { resource, info } = call;
  const { isDryRun, user, manager } = writeOptionsOf(call);
  const random = workshop.loop.random("names");
  const admitted = await admittedDraft(draft, resource, admission);
  // Whoever was asked may have given it a name, and cannot move it elsewhere.
  placeInNamespace(admitted, call);
  const base = admitted.metadata.generateName ?? "";
  const isGenerated = (admitted.metadata.name ?? "") === "" && base !== "";
  for (let attempt = 1; ; attempt++) {
    if (isGenerated) admitted.metadata.name = generateName(base, random);
    const now = workshop.loop.now();
    const uid = workshop.loop.random("uids").uuid();
    const next = await admittedObject(admitted, resource, { now, user, uid, admission });
    const writer = writerOf(resource, workshop.versions, { manager, subresource: "", now });
    const object = track({ live: undefined, next, asked: admission?.asked, writer, sentManagedFields });
    const name = object.metadata.name ?? "";
    try {
      return await new ObjectWriter(workshop).create({ resource, namespace: info.namespace, name }, object, {
        isDryRun,
      });
    } catch (error) {
      if (!isGenerated || !isApiError(error, "AlreadyExists")) throw error;
      if (attempt === NAME_TRIES) throw generateNameConflict(groupResource(resource), name);
    }
  }
}
