/** Reads the options of the connections to kubelets. */
import { X509Certificate } from "node:crypto";
import type { Loop } from "../../base/loop/loop.ts";
import { readFileText } from "../../base/process/read-named-file.ts";
import type { NodeAddressType, NodeOptions } from "../../server/nodes/node-options.ts";

export interface KubeletFlags {
  /** Path of a PEM bundle. Without one, certificates of kubelets are not verified, as upstream. */
  readonly caFile: string | undefined;
  readonly addressTypes: readonly NodeAddressType[] | undefined;
  readonly timeoutMs: number | undefined;
}

/** Rejects with a one-line error that names the file. */
export async function readKubelet(flags: KubeletFlags | undefined, loop: Loop): Promise<NodeOptions> {
  if (flags === undefined) return {};
  const { caFile, addressTypes, timeoutMs } = flags;
  const ca = caFile === undefined ? undefined : await loop.outside("file", readFileText(caFile));
  if (ca !== undefined) requireCertificate(ca, caFile ?? "");
  return { ca, addressTypes, timeoutMs };
}

function requireCertificate(text: string, path: string): void {
  try {
    void new X509Certificate(text);
  } catch (cause) {
    throw new Error(`${path} must hold the certificates of an authority in PEM`, { cause });
  }
}

/** Loopback addresses of nodes are dialled where the server itself can only be reached from this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
