/**
 * Labels and ConfigMap by which the server and controllers track service account tokens in Secrets: the day
 * of the last use, the day of invalidation, and the day on which tracking began. Days are UTC.
 */
import { dateTimeText } from "../../base/date-text.ts";

/** Labels of the Secret; the value is a day. */
export const LAST_USED = "kubernetes.io/legacy-token-last-used";
export const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
/** The ConfigMap that holds the day on which tracking began, under the key `TRACKED_SINCE`. */
export const TRACKING = {
  namespace: "kube-system",
  name: "kube-apiserver-legacy-service-account-token-tracking",
} as const;
export const TRACKED_SINCE = "since";

export function dayText(ms: number): string {
  return dateTimeText(ms).slice(0, 10);
}

/** Start of a day in milliseconds; undefined for a text that is not a date, `2026-02-30` for example. */
export function findDay(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) || dayText(at) !== text ? undefined : at;
}
