import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { STATUS } from "./wire/etcd-protocol.ts";

/** Whether progress notifications never overtake events, which older versions allow (etcd#15220). */
export async function hasReliableProgress(connection: EtcdConnection): Promise<boolean> {
  const { version } = await connection.call(STATUS, {});
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor > 5;
}
