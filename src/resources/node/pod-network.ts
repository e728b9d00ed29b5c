/** The mark of nodes whose pods have addresses that no machine answers for. */
import type { Node } from "../../api/generated/types/core-v1.ts";

const POD_NETWORK = "setpoint.dev/pod-network";

export const NO_POD_NETWORK: Readonly<Record<string, string>> = { [POD_NETWORK]: "none" };

export function hasPodNetwork({ metadata }: Node): boolean {
  return metadata.annotations?.[POD_NETWORK] !== "none";
}
