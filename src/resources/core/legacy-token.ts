/**
 * What servers and loops tell each other of tokens that lie in Secrets: the day on which one was last used, the day since which it is withdrawn,
 * and since when uses are noted at all. Days are those of UTC.
 */
import { dateTimeText } from "../../base/date-text.ts";

/** Labels of the Secret. */
export const LAST_USED = "kubernetes.io/legacy-token-last-used";
export const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
/** The ConfigMap that says since when, and under which key. */
export const TRACKING = {
  namespace: "kube-system",
  name: "kube-apiserver-legacy-service-account-token-tracking",
} as const;
export const TRACKED_SINCE = "since";

export function dayText(ms: number): string {
  return dateTimeText(ms).slice(0, 10);
}

/** When a day begins; undefined when the calendar has none of that name: `2026-02-30` is none. */
export function findDay(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) || dayText(at) !== text ? undefined : at;
}
