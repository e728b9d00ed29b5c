/** APIService: the server that serves a version of an API group. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { APIService, APIServiceSpec } from "../../api/generated/types/apiregistration-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import { dns1035Label, dns1123Subdomain, pathSegmentName, portNumber } from "../../api/values/names.ts";
import { timeText } from "../../api/values/time.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";

const SPEC = fieldPath("spec");
const GROUP_PRIORITY_MAX = 20_000;
const VERSION_PRIORITY_MAX = 1000;

export const apiService = defineKind<APIService>("apiregistration.k8s.io/v1", "APIService", {
  nameRule: pathSegmentName,

  defaults({ spec }) {
    if (spec.service !== undefined) spec.service.port ??= 443;
  },

  prepareCreate(draft, { now }) {
    draft.status = draft.spec.service === undefined ? { conditions: [localCondition(now)] } : {};
  },

  validate({ metadata, spec }, errors) {
    const { version = "", group = "" } = spec;
    const name = `${version}.${group}`;
    if (metadata.name !== name) {
      errors.invalid(
        "metadata.name",
        metadata.name,
        `must be \`spec.version+"."+spec.group\`: ${quoted(name)}`,
      );
    }
    if (group !== "") errors.invalidFor(SPEC.child("group"), group, dns1123Subdomain(group));
    else if (version !== "v1")
      errors.required(SPEC.child("group"), "only v1 may have an empty group and it better be legacy kube");
    errors.invalidFor(SPEC.child("version"), version, dns1035Label(version));
    checkPriorities(spec, errors);
    checkService(spec, errors);
  },

  statusKeeps: ALL_METADATA,
  columns: [
    { name: "Name", type: "string", format: "name", priority: 0 },
    { name: "Service", type: "string", format: "", priority: 0 },
    { name: "Available", type: "string", format: "", priority: 0 },
    { name: "Age", type: "string", format: "", priority: 0 },
  ],

  cells: (it, now) => [it.metadata.name, serviceText(it), availableText(it), ageText(it, now)],
});

function serviceText({ spec: { service } }: APIService): string {
  return service === undefined ? "Local" : `${service.namespace ?? ""}/${service.name ?? ""}`;
}

/** Shows the reason of unavailability, because users look for it first. */
function availableText({ status: { conditions = [] } }: APIService): string {
  const condition = conditions.find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  const { status, reason = "" } = condition;
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}

/** APIs of this server are available as long as it runs. */
function localCondition(now: number): {
  type: string;
  status: string;
  lastTransitionTime: string;
  reason: string;
  message: string;
} {
  return {
    type: "Available",
    status: "True",
    lastTransitionTime: timeText(now),
    reason: "Local",
    message: "Local APIServices are always available",
  };
}

function checkPriorities(
  { groupPriorityMinimum: group, versionPriority: version }: APIServiceSpec,
  errors: FieldErrors,
): void {
  if (group <= 0 || group > GROUP_PRIORITY_MAX) {
    errors.invalid(
      SPEC.child("groupPriorityMinimum"),
      group,
      `must be positive and less than ${GROUP_PRIORITY_MAX}`,
    );
  }
  if (version <= 0 || version > VERSION_PRIORITY_MAX) {
    errors.invalid(
      SPEC.child("versionPriority"),
      version,
      `must be positive and less than ${VERSION_PRIORITY_MAX}`,
    );
  }
}

function checkService(spec: APIServiceSpec, errors: FieldErrors): void {
  const { service, caBundle = "", insecureSkipTLSVerify = false } = spec;
  if (service === undefined) {
    checkLocal(spec, errors);
    return;
  }
  const path = SPEC.child("service");
  for (const field of ["namespace", "name"] as const) {
    if ((service[field] ?? "") === "") errors.required(path.child(field));
  }
  const problems = portNumber(service.port ?? 443);
  if (problems.length > 0)
    errors.invalid(path.child("port"), service.port, `port is not valid: ${problems.join(", ")}`);
  if (insecureSkipTLSVerify && caBundle !== "") {
    errors.invalid(SPEC.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present");
  }
}

/** A local APIService has no connection, so it must have no TLS settings. */
function checkLocal(
  { caBundle = "", insecureSkipTLSVerify = false }: APIServiceSpec,
  errors: FieldErrors,
): void {
  if (caBundle !== "") {
    const bytes = Buffer.byteLength(caBundle, "base64");
    errors.invalid(SPEC.child("caBundle"), `${bytes} bytes`, "local APIServices may not have a caBundle");
  }
  if (insecureSkipTLSVerify) {
    const detail = "local APIServices may not have insecureSkipTLSVerify";
    errors.invalid(SPEC.child("insecureSkipTLSVerify"), insecureSkipTLSVerify, detail);
  }
}
