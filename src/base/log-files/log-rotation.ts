/** Decides which backups of a rotated log to remove or compress. Backups have the names that kube-apiserver gives. */
import { parse } from "node:path";

export interface RotationLimits {
  /** A file that would exceed this is rotated first. */
  readonly maxBytes: number;
  /** Age above which backups are removed; 0 keeps them. */
  readonly maxAgeMs: number;
  /** Number of backups to keep; 0 keeps all. */
  readonly maxBackups: number;
  readonly isCompressed: boolean;
}

export interface RotationPlan {
  readonly remove: readonly string[];
  readonly compress: readonly string[];
}

const GZIP = ".gz";

/** `audit.log` gives `audit-2026-11-15T10-33-04.123.log`. */
export function backupName(file: string, now: number): string {
  const { name, ext } = parse(file);
  return `${name}-${new Date(now).toISOString().slice(0, -1).replaceAll(":", "-")}${ext}`;
}

/** Plans for the backups among `names`, the files in the log's folder; ignores other files. */
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
