/** Reads the configuration of authorization from flags and their files. */
import { dirname, resolve } from "node:path";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { readFileText } from "../../base/process/read-named-file.ts";
import type { AuthorizerOptions } from "../../server/access/authz/authorization-options.ts";
import { readAuthorizationConfiguration } from "../../server/access/authz/read-configuration.ts";
import type {
  ConfiguredAuthorizer,
  ConfiguredWebhook,
} from "../../server/access/authz/read-configuration.ts";
import { readWebhookFile } from "./webhook-file.ts";
import type { ReadFile } from "./webhook-file.ts";

export type AuthorizationMode = AuthorizerOptions["type"];

/** Either a configuration file, or modes with their webhook options. */
export type AuthorizationFlags =
  | { readonly configFile: string }
  | {
      readonly modes: readonly AuthorizationMode[];
      /** Path of a kubeconfig; present exactly when `Webhook` is among the modes. */
      readonly webhookFile: string | undefined;
      readonly webhookVersion: "v1" | "v1beta1";
      readonly authorizedTtlMs: number;
      readonly unauthorizedTtlMs: number;
    };

/** Upstream's values for webhooks without a configuration file. */
const TIMEOUT_MS = 30_000;

/** Undefined without flags. Rejects with a one-line error that names the file and shows nothing secret of its content. */
export async function readAuthorization(
  flags: AuthorizationFlags | undefined,
  loop: Loop,
): Promise<readonly AuthorizerOptions[] | undefined> {
  if (flags === undefined) return undefined;
  const read: ReadFile = (path) => loop.outside("file", readFileText(path));
  const configured = "configFile" in flags ? await readConfiguration(flags.configFile, read) : ofModes(flags);
  return Promise.all(
    configured.map((each) => (each.type === "Webhook" ? connected(each, read) : Promise.resolve(each))),
  );
}

async function readConfiguration(file: string, read: ReadFile): Promise<readonly ConfiguredAuthorizer[]> {
  const text = await read(file);
  try {
    const configured = readAuthorizationConfiguration(text);
    return configured.map((each) =>
      each.type === "Webhook"
        ? { ...each, kubeconfigFile: resolve(dirname(file), each.kubeconfigFile) }
        : each,
    );
  } catch (cause) {
    const why = errorText(cause);
    throw new Error(`${file} is not a valid AuthorizationConfiguration: ${why}`, { cause });
  }
}

function ofModes(
  flags: Exclude<AuthorizationFlags, { configFile: string }>,
): readonly ConfiguredAuthorizer[] {
  const { modes, webhookFile = "", webhookVersion, authorizedTtlMs, unauthorizedTtlMs } = flags;
  return modes.map((type) => {
    if (type !== "Webhook") return { type };
    return {
      type,
      name: "default",
      version: webhookVersion,
      timeoutMs: TIMEOUT_MS,
      authorizedTtlMs,
      unauthorizedTtlMs,
      onFailure: "no opinion",
      matchConditions: [],
      kubeconfigFile: webhookFile,
    };
  });
}

/** Webhook connection from the current context of the kubeconfig. */
async function connected(
  { kubeconfigFile, ...webhook }: ConfiguredWebhook,
  read: ReadFile,
): Promise<AuthorizerOptions> {
  return { ...webhook, ...(await readWebhookFile(kubeconfigFile, read)) };
}
