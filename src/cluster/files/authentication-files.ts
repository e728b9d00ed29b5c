/** Reads the configuration of authentication from flags and their files. */
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { readFileText } from "../../base/process/read-named-file.ts";
import type { AuthenticationOptions } from "../../server/access/authn/create-authentication.ts";
import type { AuthenticationConfiguration, JwtRules } from "../../server/access/authn/oidc/configuration.ts";
import { oidcRules } from "../../server/access/authn/oidc/flag-rules.ts";
import type { OidcFlags } from "../../server/access/authn/oidc/flag-rules.ts";
import { readAuthenticationConfiguration } from "../../server/access/authn/oidc/read-configuration.ts";
import { parseTokenFile } from "../../server/access/authn/token-file.ts";
import { DEFAULT_ISSUER } from "../../server/access/authn/token-issuer.ts";
import type { ReloadedFile } from "./file-reload.ts";
import { readWebhookFile } from "./webhook-file.ts";
import type { ReadFile } from "./webhook-file.ts";

export interface TokenWebhookFlags {
  /** Path of a kubeconfig. */
  readonly file: string;
  readonly version: "v1" | "v1beta1";
  readonly ttlMs: number;
}

/** Upstream's timeout. */
const WEBHOOK_TIMEOUT_MS = 30_000;

export interface AuthenticationFlags {
  readonly issuers?: readonly string[] | undefined;
  readonly audiences?: readonly string[] | undefined;
  readonly jwksUri?: string | undefined;
  readonly maxTokenSeconds?: number | undefined;
  readonly tokenFile?: string | undefined;
  /** Path of an AuthenticationConfiguration; excludes `oidc`. */
  readonly configFile?: string | undefined;
  readonly oidc?: OidcFlags | undefined;
  readonly webhook?: TokenWebhookFlags | undefined;
  readonly frontProxyNames?: readonly string[] | undefined;
  /** Whether requests without credentials are accepted, within RBAC; excludes `anonymous` in the configuration file. */
  readonly isAnonymousAllowed?: boolean | undefined;
}

export interface ReadAuthentication extends AuthenticationOptions {
  /** Reloaded configuration file. A change replaces the JWT rules; the rule for anonymous requests stays as it was at start. */
  readonly file: ReloadedFile | undefined;
}

/** Rejects with a one-line error that names the file and shows nothing secret of its content. */
export async function readAuthentication(
  flags: AuthenticationFlags = {},
  loop: Loop,
): Promise<ReadAuthentication> {
  const { issuers, audiences, jwksUri, maxTokenSeconds, frontProxyNames, tokenFile } = flags;
  const read: ReadFile = (path) => loop.outside("file", readFileText(path));
  const text = flags.configFile === undefined ? undefined : await read(flags.configFile);
  const configuration = text === undefined ? NO_CONFIGURATION : parsed(text, flags);
  const oidc = await readOidc(flags, read);
  const jwt = { current: [...configuration.jwt, ...oidc] };
  return {
    tokens: { issuers, audiences, jwksUri, maxSeconds: maxTokenSeconds },
    staticTokens: tokenFile === undefined ? [] : parseTokenFile(await read(tokenFile), tokenFile),
    jwt,
    webhook: await readWebhook(flags, read),
    frontProxyNames,
    anonymous: anonymousRule(flags, configuration),
    file: reloadedFile({ flags, text, read }, (rules) => (jwt.current = [...rules, ...oidc])),
  };
}

async function readWebhook(
  { webhook }: AuthenticationFlags,
  read: ReadFile,
): Promise<AuthenticationOptions["webhook"]> {
  if (webhook === undefined) return undefined;
  const { file, version, ttlMs } = webhook;
  return { ...(await readWebhookFile(file, read)), version, ttlMs, timeoutMs: WEBHOOK_TIMEOUT_MS };
}

const NO_CONFIGURATION: AuthenticationConfiguration = { jwt: [], anonymous: undefined };

interface ReadFlags {
  readonly flags: AuthenticationFlags;
  readonly text: string | undefined;
  readonly read: ReadFile;
}

function reloadedFile(
  { flags, text, read }: ReadFlags,
  use: (rules: readonly JwtRules[]) => void,
): ReloadedFile | undefined {
  const { configFile } = flags;
  if (configFile === undefined || text === undefined) return undefined;
  return {
    path: configFile,
    text,
    read: () => read(configFile),
    use: (now) => use(parsed(now, flags).jwt),
    controller: "authentication_config_controller",
  };
}

function parsed(
  text: string,
  { configFile = "", issuers = [DEFAULT_ISSUER] }: AuthenticationFlags,
): AuthenticationConfiguration {
  try {
    return readAuthenticationConfiguration(text, issuers);
  } catch (cause) {
    const why = errorText(cause);
    throw new Error(`${configFile} is not a valid AuthenticationConfiguration: ${why}`, { cause });
  }
}

async function readOidc({ oidc }: AuthenticationFlags, read: ReadFile): Promise<readonly JwtRules[]> {
  if (oidc === undefined) return [];
  const ca = oidc.caFile === undefined ? undefined : await read(oidc.caFile);
  return [oidcRules(oidc, ca)];
}

function anonymousRule(
  { configFile = "", isAnonymousAllowed }: AuthenticationFlags,
  { anonymous }: AuthenticationConfiguration,
): AuthenticationOptions["anonymous"] {
  if (isAnonymousAllowed === undefined) return anonymous;
  if (anonymous !== undefined)
    throw new Error(`--anonymous-auth cannot be given when ${configFile} has an anonymous rule`);
  return { enabled: isAnonymousAllowed, paths: [] };
}
