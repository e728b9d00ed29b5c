/**
 * Lists the credential files that flags name: tokens and kubeconfigs. Users often leave them readable to others, so the
 * server warns instead of refusing.
 */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findExposure } from "../../base/process/private-path.ts";
import type { ClusterOptions } from "../options.ts";

export function credentialFiles({
  authentication,
  authorization,
  audit,
}: Pick<ClusterOptions, "authentication" | "authorization" | "audit">): readonly string[] {
  const webhookFile =
    authorization === undefined || "configFile" in authorization ? undefined : authorization.webhookFile;
  const named = [authentication?.tokenFile, authentication?.webhook?.file, webhookFile, audit?.webhookFile];
  return named.filter((path) => path !== undefined);
}

export async function warnOfExposure(
  paths: readonly string[],
  { loop, log }: { readonly loop: Loop; readonly log: Log },
): Promise<void> {
  for (const path of paths) {
    const problem = await loop.outside("file", findExposure(path));
    if (problem !== undefined) log.warn("a file of credentials is not private", { file: path, problem });
  }
}
