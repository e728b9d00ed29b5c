/** Matches tolerations of a claim with taints of devices. */

import type { DeviceTaint, DeviceToleration } from "../../api/generated/types/resource-v1.ts";

/** Without a key, `Exists` tolerates every key. Without an effect, a toleration tolerates every effect. */
export function toleratesDeviceTaint(
  { key = "", effect, operator, value = "" }: DeviceToleration,
  taint: DeviceTaint,
): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || value === (taint.value ?? "");
}
