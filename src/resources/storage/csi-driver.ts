/** CSIDriver: settings of a storage driver. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { CSIDriver, CSIDriverSpec, TokenRequest } from "../../api/generated/types/storage-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { addNew, checkRequiredChoice } from "../rules/value-rules.ts";
import { checkDriverName } from "./csi-driver-name.ts";

const SPEC = fieldPath("spec");
const TOKEN_SECONDS_MIN = 10 * 60;
const TOKEN_SECONDS_MAX = 2 ** 32;
const UPDATE_SECONDS_MIN = 10;

export const csiDriver = defineKind<CSIDriver>("storage.k8s.io/v1", "CSIDriver", {
  defaults({ spec }) {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"];
  },

  prepareCreate: dropLimitScaling,
  prepareUpdate(draft, previous) {
    if (previous.spec.preventPodSchedulingIfMissing === undefined) dropLimitScaling(draft);
  },

  validate({ metadata, spec }, errors) {
    checkDriverName(metadata.name, fieldPath("metadata", "name"), errors);
    for (const field of ["attachRequired", "podInfoOnMount", "storageCapacity"] as const) {
      if (spec[field] === undefined) errors.required(SPEC.child(field));
    }
    const policies = ["File", "None", "ReadWriteOnceWithFSType"];
    checkRequiredChoice(
      { path: SPEC.child("fsGroupPolicy"), value: spec.fsGroupPolicy, among: policies },
      errors,
    );
    checkTokens(spec, errors);
    for (const mode of spec.volumeLifecycleModes ?? []) {
      if (mode !== "Persistent" && mode !== "Ephemeral") {
        errors.notSupported(SPEC.child("volumeLifecycleModes"), mode, ["Persistent", "Ephemeral"]);
      }
    }
    const period = spec.nodeAllocatableUpdatePeriodSeconds;
    if (period !== undefined && period < UPDATE_SECONDS_MIN) {
      const detail = `must be greater than or equal to ${UPDATE_SECONDS_MIN} seconds`;
      errors.invalid(SPEC.child("nodeAllocatableUpdatePeriodSeconds"), period, detail);
    }
  },

  validateUpdate({ spec: next }, { spec: previous }, errors) {
    // Upstream's path of the first field is misspelled.
    errors.immutable("spec.attachedRequired", next.attachRequired, previous.attachRequired);
    errors.immutable("spec.volumeLifecycleModes", next.volumeLifecycleModes, previous.volumeLifecycleModes);
  },

  columns: [
    { name: "Name", type: "string", format: "name", priority: 0 },
    { name: "AttachRequired", type: "boolean", format: "", priority: 0 },
    { name: "PodInfoOnMount", type: "boolean", format: "", priority: 0 },
    { name: "StorageCapacity", type: "boolean", format: "", priority: 0 },
    { name: "TokenRequests", type: "string", format: "", priority: 0 },
    { name: "RequiresRepublish", type: "boolean", format: "", priority: 0 },
    { name: "Modes", type: "string", format: "", priority: 0 },
    { name: "Age", type: "string", format: "", priority: 0 },
  ],
  cells: (it, now) => [
    it.metadata.name,
    it.spec.attachRequired ?? true,
    it.spec.podInfoOnMount ?? false,
    it.spec.storageCapacity ?? false,
    it.spec.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>",
    it.spec.requiresRepublish ?? false,
    (it.spec.volumeLifecycleModes ?? []).join(",") || "<none>",
    ageText(it, now),
  ],
});

/** Drops the field of a feature that is off by default. */
function dropLimitScaling({ spec }: Draft<CSIDriver>): void {
  delete spec.preventPodSchedulingIfMissing;
}

function checkTokens(
  { tokenRequests = [], serviceAccountTokenInSecrets: inSecrets }: CSIDriverSpec,
  errors: FieldErrors,
): void {
  checkTokenRequests(tokenRequests, errors);
  if (inSecrets === undefined || tokenRequests.length > 0) return;
  const detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
  errors.invalid(SPEC.child("serviceAccountTokenInSecrets"), inSecrets, detail);
}

function checkTokenRequests(requests: readonly TokenRequest[], errors: FieldErrors): void {
  const path = SPEC.child("tokenRequests");
  const audiences = new Set<string>();
  for (const [i, { audience, expirationSeconds: seconds }] of requests.entries()) {
    if (!addNew(audiences, audience)) errors.duplicate(path.index(i).child("audience"), audience);
    if (seconds === undefined) continue;
    const at = path.index(i).child("expirationSeconds");
    if (seconds < TOKEN_SECONDS_MIN)
      errors.invalid(at, seconds, "may not specify a duration less than 10 minutes");
    if (seconds > TOKEN_SECONDS_MAX)
      errors.invalid(at, seconds, "may not specify a duration larger than 2^32 seconds");
  }
}
