/** Options of authorization, under kube-apiserver's names. */
import { parseDuration } from "../api/values/time.ts";
import type { AuthorizationFlags, AuthorizationMode } from "../cluster/files/authorization-files.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

const MODES: readonly AuthorizationMode[] = ["Node", "RBAC", "Webhook", "AlwaysAllow", "AlwaysDeny"];
const DEFAULT_MODES = "Node,RBAC";

export const authorizationOptions: readonly OptionSpec[] = [
  {
    flags: "--authorization-mode <list>",
    help: `ordered list of authorizers (default: ${DEFAULT_MODES})`,
  },
  {
    flags: "--authorization-config <file>",
    help: "path of an AuthorizationConfiguration, instead of the modes",
  },
  {
    flags: "--authorization-webhook-config-file <file>",
    help: "path of the kubeconfig of the authorization webhook",
  },
  {
    flags: "--authorization-webhook-version <version>",
    help: "API version of SubjectAccessReviews (default: v1beta1)",
    choices: ["v1", "v1beta1"],
  },
  {
    flags: "--authorization-webhook-cache-authorized-ttl <time>",
    help: "cache lifetime of allowed decisions (default: 5m0s)",
  },
  {
    flags: "--authorization-webhook-cache-unauthorized-ttl <time>",
    help: "cache lifetime of denied decisions (default: 30s)",
  },
];

type PathOf = (name: string) => string | undefined;

export function parseAuthorization(args: Arguments, path: PathOf): AuthorizationFlags | undefined {
  const configFile = path("authorizationConfig");
  const modes = findText(args, "authorizationMode");
  const webhookFile = path("authorizationWebhookConfigFile");
  if (configFile !== undefined) {
    if (modes !== undefined || webhookFile !== undefined)
      throw new UsageError(
        "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
      );
    return { configFile };
  }
  if (modes === undefined && webhookFile === undefined) return undefined;
  const chosen = parseModes(modes ?? DEFAULT_MODES);
  if (chosen.includes("Webhook") !== (webhookFile !== undefined))
    throw new UsageError(
      "--authorization-webhook-config-file and the mode Webhook in --authorization-mode must be given together",
    );
  return {
    modes: chosen,
    webhookFile,
    webhookVersion: findText(args, "authorizationWebhookVersion") === "v1" ? "v1" : "v1beta1",
    authorizedTtlMs: parseTtl(args, "authorized", 300_000),
    unauthorizedTtlMs: parseTtl(args, "unauthorized", 30_000),
  };
}

function parseModes(text: string): readonly AuthorizationMode[] {
  const words = text.split(",").map((word) => word.trim());
  const modes = words.flatMap((word) => MODES.find((mode) => mode === word) ?? []);
  if (modes.length === words.length && new Set(modes).size === modes.length) return modes;
  throw new UsageError(
    `--authorization-mode must be a list of ${MODES.join(", ")}, each once, found "${text}"`,
  );
}

function parseTtl(args: Arguments, which: "authorized" | "unauthorized", fallbackMs: number): number {
  const name = which === "authorized" ? "CacheAuthorizedTtl" : "CacheUnauthorizedTtl";
  const text = findText(args, `authorizationWebhook${name}`);
  if (text === undefined) return fallbackMs;
  try {
    return Number(parseDuration(text) / 1_000_000n);
  } catch (cause) {
    const flag = `--authorization-webhook-cache-${which}-ttl`;
    throw new UsageError(`${flag} must be a duration like 30s, found "${text}"`, { cause });
  }
}
