/** Which taints of devices a claim puts up with. */

import type { DeviceTaint, DeviceToleration } from "../../api/generated/types/resource-v1.ts";

/** An absent key with `Exists` puts up with every key, an absent effect with every effect. */
export function toleratesDeviceTaint(
  { key = "", effect, operator, value = "" }: DeviceToleration,
  taint: DeviceTaint,
): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || value === (taint.value ?? "");
}
