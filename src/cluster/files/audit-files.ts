/** Where audit events go, from flags and the files that they name. */
import type { Loop } from "../../base/loop/loop.ts";
import { readNamedText } from "../../base/process/read-file.ts";
import type { AuditOptions } from "../../server/stages/audit/audit-trail.ts";
import { readWebhookFile } from "./webhook-file.ts";

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
  const read = (path: string): Promise<string> => loop.outside("file", readNamedText(path));
  return { ...options, webhook: await readWebhookFile(webhookFile, read) };
}
