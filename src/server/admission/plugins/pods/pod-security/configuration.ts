/** Parses the PodSecurityConfiguration: default policies for namespaces without labels, and exemptions. */
import { isJsonObject } from "../../../../../api/json/json-object.ts";
import type { JsonObject } from "../../../../../api/json/json-object.ts";
import { AdmissionConfigError } from "../../../config-error.ts";
import { LATEST, LEVELS, MODES, OPEN_POLICY, findLevel, findVersion } from "./policy.ts";
import type { LevelVersion, Mode, Policy } from "./policy.ts";

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: {
    readonly usernames: readonly string[];
    readonly namespaces: readonly string[];
    readonly runtimeClasses: readonly string[];
  };
}

export const OPEN_CONFIGURATION: PodSecurityConfiguration = {
  defaults: OPEN_POLICY,
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
};

const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map(
  (version) => `pod-security.admission.config.k8s.io/${version}`,
);
const EXEMPTIONS = ["usernames", "namespaces", "runtimeClasses"] as const;

/** Throws AdmissionConfigError with the field and the invalid value. */
export function parsePodSecurityConfiguration(value: JsonObject): PodSecurityConfiguration {
  const { apiVersion, kind } = value;
  if (kind !== "PodSecurityConfiguration" || !VERSIONS.some((version) => version === apiVersion)) {
    const found = `${String(apiVersion)} ${String(kind)}`;
    throw new AdmissionConfigError(
      `the configuration of PodSecurity must be a PodSecurityConfiguration of ${VERSIONS[0]}, found ${found}`,
    );
  }
  refuseUnknown(value, ["apiVersion", "kind", "defaults", "exemptions"], "");
  return {
    defaults: parseDefaults(partOf(value, "defaults")),
    exemptions: parseExemptions(partOf(value, "exemptions")),
  };
}

function partOf(value: JsonObject, name: string): JsonObject {
  const part = value[name] ?? {};
  if (!isJsonObject(part)) throw new AdmissionConfigError(`${name} must be an object`);
  return part;
}

function parseDefaults(defaults: JsonObject): Policy {
  refuseUnknown(
    defaults,
    MODES.flatMap((mode) => [mode, `${mode}-version`]),
    "defaults.",
  );
  const read = (mode: Mode): LevelVersion => parseMode(mode, defaults);
  return { enforce: read("enforce"), audit: read("audit"), warn: read("warn") };
}

function parseMode(mode: Mode, defaults: JsonObject): LevelVersion {
  const { [mode]: levelText = "privileged", [`${mode}-version`]: versionText = LATEST.text } = defaults;
  const level = findLevel(String(levelText));
  if (level === undefined) {
    const wanted = `must be one of ${LEVELS.join(", ")}`;
    throw new AdmissionConfigError(
      `defaults.${mode}: Invalid value: ${JSON.stringify(levelText)}: ${wanted}`,
    );
  }
  const version = findVersion(String(versionText));
  if (version === undefined) {
    const found = JSON.stringify(versionText);
    throw new AdmissionConfigError(
      `defaults.${mode}-version: Invalid value: ${found}: must be "latest" or "v1.x"`,
    );
  }
  return { level, version };
}

function parseExemptions(exemptions: JsonObject): PodSecurityConfiguration["exemptions"] {
  refuseUnknown(exemptions, EXEMPTIONS, "exemptions.");
  const [usernames, namespaces, runtimeClasses] = [
    namesOf(exemptions, "usernames"),
    namesOf(exemptions, "namespaces"),
    namesOf(exemptions, "runtimeClasses"),
  ];
  return { usernames, namespaces, runtimeClasses };
}

function namesOf(exemptions: JsonObject, field: (typeof EXEMPTIONS)[number]): readonly string[] {
  const list = exemptions[field] ?? [];
  if (!Array.isArray(list) || !list.every((name) => typeof name === "string" && name !== ""))
    throw new AdmissionConfigError(`exemptions.${field} must be a list of names`);
  if (new Set(list).size < list.length)
    throw new AdmissionConfigError(`exemptions.${field} names something twice`);
  return list as readonly string[];
}

function refuseUnknown(value: JsonObject, known: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new AdmissionConfigError(`unknown field ${JSON.stringify(path + unknown)}`);
}
