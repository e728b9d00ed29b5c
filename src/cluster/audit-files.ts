/** Where audit events go, from flags and the files that they name. */
import { readFile } from "node:fs/promises";
import type { Loop } from "../base/loop.ts";
import type { TextSource } from "../client/endpoint.ts";
import { parseKubeconfig, resolveContext } from "../client/kubeconfig.ts";
import type { AuditOptions } from "../server/audit/audit-trail.ts";

export interface AuditFlags extends Omit<AuditOptions, "webhook"> {
  /** A kubeconfig, whose current context says whom to tell. */
  readonly webhookFile?: string | undefined;
}

export async function readAudit(
  flags: AuditFlags | undefined,
  loop: Loop,
): Promise<AuditOptions | undefined> {
  if (flags?.webhookFile === undefined) return flags;
  const { webhookFile, ...options } = flags;
  const read = (path: string): Promise<string> => loop.outside("file", readFile(path, "utf8"));
  const config = parseKubeconfig(await read(webhookFile), { file: webhookFile });
  const { server: url, ca, user } = resolveContext(config).endpoint;
  const textOf = async (source: TextSource | undefined): Promise<string | undefined> =>
    source === undefined || "text" in source ? source?.text : read(source.file);
  const [token, cert, key] = [
    await textOf(user?.token),
    await textOf(user?.certificate),
    await textOf(user?.key),
  ];
  return {
    ...options,
    webhook: {
      url,
      ca: await textOf(ca),
      pair: cert === undefined || key === undefined ? undefined : { cert, key },
      headers: token === undefined ? {} : { authorization: `Bearer ${token.trim()}` },
    },
  };
}
