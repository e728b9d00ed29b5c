/** Parses a namespace's pod security labels: a level and a version for each of three modes. */
import { FieldErrors, fieldPath } from "../../../../../api/errors/field-error.ts";
import type { FieldError } from "../../../../../api/errors/field-error.ts";
import { ownValue } from "../../../../../resources/rules/value-rules.ts";

export const LEVELS = ["privileged", "baseline", "restricted"] as const;
export type Level = (typeof LEVELS)[number];

export const MODES = ["enforce", "audit", "warn"] as const;
export type Mode = (typeof MODES)[number];

/** `v1.30` selects the rules of Kubernetes 1.30. */
export interface PolicyVersion {
  /** Infinity for `latest`. */
  readonly minor: number;
  readonly text: string;
}

export interface LevelVersion {
  readonly level: Level;
  readonly version: PolicyVersion;
}

export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const LATEST: PolicyVersion = { minor: Infinity, text: "latest" };

const UNBOUND: LevelVersion = { level: "privileged", version: LATEST };
/** Policy of namespaces without labels in a cluster without a PodSecurityConfiguration. */
export const OPEN_POLICY: Policy = { enforce: UNBOUND, audit: UNBOUND, warn: UNBOUND };

const PREFIX = "pod-security.kubernetes.io/";
const LABELS = fieldPath("metadata", "labels");
const NO_LEVEL = `must be one of ${LEVELS.join(", ")}`;
const NO_VERSION = 'must be "latest" or "v1.x"';

export interface NamespacePolicy {
  readonly policy: Policy;
  /**
   * Errors in the labels. An invalid level counts as `restricted` for enforce and as `privileged` for audit and warn.
   * An invalid version counts as `latest`.
   */
  readonly problems: readonly FieldError[];
}

export function findLevel(text: string): Level | undefined {
  return LEVELS.find((level) => level === text);
}

/** A text with more digits than this is not a version. */
export function findVersion(text: string): PolicyVersion | undefined {
  if (text === "latest") return LATEST;
  const { minor } = /^v1\.(?<minor>0|[1-9]\d{0,14})$/.exec(text)?.groups ?? {};
  return minor === undefined ? undefined : { minor: Number(minor), text };
}

export function namespacePolicy(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: Policy,
): NamespacePolicy {
  const errors = new FieldErrors();
  const read = (mode: Mode): LevelVersion => modePolicy(mode, { labels, fallback: defaults[mode], errors });
  return {
    policy: { enforce: read("enforce"), audit: read("audit"), warn: read("warn") },
    problems: errors.found,
  };
}

interface Reading {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fallback: LevelVersion;
  readonly errors: FieldErrors;
}

function modePolicy(mode: Mode, { labels, fallback, errors }: Reading): LevelVersion {
  const levelText = ownValue(labels, `${PREFIX}${mode}`);
  const versionText = ownValue(labels, `${PREFIX}${mode}-version`);
  if (levelText === undefined && versionText === undefined) return fallback;
  const level = levelText === undefined ? fallback.level : findLevel(levelText);
  const version = versionText === undefined ? fallback.version : findVersion(versionText);
  if (level === undefined) errors.invalid(LABELS.key(`${PREFIX}${mode}`), levelText, NO_LEVEL);
  if (version === undefined) errors.invalid(LABELS.key(`${PREFIX}${mode}-version`), versionText, NO_VERSION);
  const unread: Level = mode === "enforce" ? "restricted" : "privileged";
  return { level: level ?? unread, version: version ?? LATEST };
}

/** `restricted:v1.30`. */
export function policyText({ level, version }: LevelVersion): string {
  return `${level}:${version.text}`;
}

function isSamePolicy(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.version.text === other.version.text;
}

/** Whether the namespace may contain pods that the new policy refuses. */
export function isTightened(from: LevelVersion, to: LevelVersion): boolean {
  if (to.level === "privileged" || isSamePolicy(from, to)) return false;
  return to.version.text !== from.version.text || LEVELS.indexOf(to.level) > LEVELS.indexOf(from.level);
}
