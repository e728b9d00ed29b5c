/** Which files of a log that is rotated there are, and which of them have had their time. Names are those that kube-apiserver gives. */
import { parse } from "node:path";

export interface RotationLimits {
  /** A file that would become larger is put aside first. */
  readonly maxBytes: number;
  /** Files that were put aside longer ago are removed; 0 keeps them. */
  readonly maxAgeMs: number;
  /** How many are kept; 0 keeps all. */
  readonly maxBackups: number;
  readonly isCompressed: boolean;
}

export interface RotationPlan {
  readonly remove: readonly string[];
  readonly compress: readonly string[];
}

const GZIP = ".gz";

/** `audit-2026-11-15T10-33-04.123.log` of `audit.log`. */
export function backupName(file: string, now: number): string {
  const { name, ext } = parse(file);
  return `${name}-${new Date(now).toISOString().slice(0, -1).replaceAll(":", "-")}${ext}`;
}

/** Of the names in the log's folder; what is not the log's is not touched. */
export function planRotation(
  file: string,
  names: readonly string[],
  limits: RotationLimits & { readonly now: number },
): RotationPlan {
  const backups = names
    .flatMap((name) => {
      const at = findBackupTime(file, name);
      return at === undefined ? [] : [{ name, at }];
    })
    .toSorted((a, b) => b.at - a.at);
  const times = [...new Set(backups.map(({ at }) => at))];
  const oldest = limits.maxBackups > 0 ? times[limits.maxBackups - 1] : undefined;
  const isKept = (at: number): boolean =>
    (oldest === undefined || at >= oldest) && (limits.maxAgeMs === 0 || at >= limits.now - limits.maxAgeMs);
  const kept = backups.filter(({ at }) => isKept(at)).map(({ name }) => name);
  return {
    remove: backups.filter(({ at }) => !isKept(at)).map(({ name }) => name),
    compress: limits.isCompressed ? kept.filter((name) => !name.endsWith(GZIP)) : [],
  };
}

function findBackupTime(file: string, name: string): number | undefined {
  const { name: stem, ext } = parse(file);
  const plain = name.endsWith(GZIP) ? name.slice(0, -GZIP.length) : name;
  if (!plain.startsWith(`${stem}-`) || !plain.endsWith(ext)) return undefined;
  const text = plain.slice(stem.length + 1, plain.length - ext.length);
  if (!/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/.test(text)) return undefined;
  const at = Date.parse(`${text.slice(0, 10)}T${text.slice(11).replaceAll("-", ":")}Z`);
  return Number.isNaN(at) ? undefined : at;
}
