/** Reads the audit policy and the destinations of audit events from flags and their files. */
import type { Loop } from "../../base/loop/loop.ts";
import { readFileText } from "../../base/process/read-named-file.ts";
import type { AuditOptions } from "../../server/stages/audit/audit-trail.ts";
import { readWebhookFile } from "./webhook-file.ts";

export interface AuditFlags extends Omit<AuditOptions, "webhook"> {
  /** Path of a kubeconfig whose current context names the webhook. */
  readonly webhookFile?: string | undefined;
}

export async function readAudit(
  flags: AuditFlags | undefined,
  loop: Loop,
): Promise<AuditOptions | undefined> {
  if (flags?.webhookFile === undefined) return flags;
  const { webhookFile, ...options } = flags;
  const read = (path: string): Promise<string> => loop.outside("file", readFileText(path));
  return { ...options, webhook: await readWebhookFile(webhookFile, read) };
}
