/** Options of authentication, under kube-apiserver's names. Lists are separated by commas. */
import { parseDuration } from "../api/values/time.ts";
import type { AuthenticationFlags } from "../cluster/files/authentication-files.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const authenticationOptions: readonly OptionSpec[] = [
  {
    flags: "--service-account-issuer <urls>",
    help: "issuers of service account tokens; the first one signs",
  },
  {
    flags: "--api-audiences <list>",
    help: "accepted audiences of tokens (default: the issuers)",
  },
  {
    flags: "--service-account-jwks-uri <url>",
    help: "URL of the public keys of service account tokens",
  },
  {
    flags: "--service-account-max-token-expiration <seconds>",
    help: "maximum lifetime of service account tokens",
  },
  { flags: "--token-auth-file <file>", help: 'path of a file with lines TOKEN,USER,UID,"GROUP,GROUP"' },
  {
    flags: "--authentication-config <file>",
    help: "path of an AuthenticationConfiguration",
  },
  { flags: "--oidc-issuer-url <url>", help: "URL of an OpenID Connect issuer of accepted tokens" },
  { flags: "--oidc-client-id <id>", help: "required audience of OpenID Connect tokens" },
  { flags: "--oidc-username-claim <claim>", help: "claim with the user's name", fallback: "sub" },
  {
    flags: "--oidc-username-prefix <prefix>",
    help: 'prefix of user names (default: "ISSUER#"; "-" for none)',
  },
  { flags: "--oidc-groups-claim <claim>", help: "claim with the user's groups" },
  { flags: "--oidc-groups-prefix <prefix>", help: "prefix of group names" },
  { flags: "--oidc-required-claim <list>", help: "required claims of tokens: NAME=VALUE,NAME=VALUE" },
  {
    flags: "--oidc-signing-algs <list>",
    help: "accepted signature algorithms of OpenID Connect tokens",
    fallback: "RS256",
  },
  { flags: "--oidc-ca-file <file>", help: "path of the CA certificates of the OpenID Connect issuer" },
  {
    flags: "--authentication-token-webhook-config-file <file>",
    help: "path of the kubeconfig of the token webhook",
  },
  {
    flags: "--authentication-token-webhook-version <version>",
    help: "API version of the TokenReview requests",
    choices: ["v1", "v1beta1"],
    fallback: "v1beta1",
  },
  {
    flags: "--authentication-token-webhook-cache-ttl <time>",
    help: "cache lifetime of the token webhook's answers",
    fallback: "2m",
  },
  {
    flags: "--requestheader-allowed-names <list>",
    help: "common names of front proxy certificates",
    fallback: "front-proxy-client",
  },
  {
    flags: "--anonymous-auth <choice>",
    help: "access without credentials, within RBAC (default: true)",
    choices: ["true", "false"],
  },
];

type PathOf = (name: string) => string | undefined;

/** Undefined when none of the options is given. */
export function parseAuthentication(args: Arguments, path: PathOf): AuthenticationFlags | undefined {
  const anonymous = findText(args, "anonymousAuth");
  const oidc = parseOidc(args, path);
  const configFile = path("authenticationConfig");
  if (oidc !== undefined && configFile !== undefined)
    throw new UsageError("--authentication-config and --oidc-issuer-url cannot be given together");
  const flags: AuthenticationFlags = {
    issuers: parseList(args, "serviceAccountIssuer"),
    audiences: parseList(args, "apiAudiences"),
    jwksUri: findText(args, "serviceAccountJwksUri"),
    maxTokenSeconds: parseSeconds(args),
    tokenFile: path("tokenAuthFile"),
    configFile,
    oidc,
    webhook: parseWebhook(args, path),
    frontProxyNames: parseList(args, "requestheaderAllowedNames"),
    isAnonymousAllowed: anonymous === undefined ? undefined : anonymous === "true",
  };
  return Object.values(flags).every((value) => value === undefined) ? undefined : flags;
}

/** Upstream's default. */
const TTL_MS = 120_000;

function parseWebhook(args: Arguments, path: PathOf): AuthenticationFlags["webhook"] {
  const file = path("authenticationTokenWebhookConfigFile");
  const ttlMs = parseTtl(findText(args, "authenticationTokenWebhookCacheTtl"));
  if (file === undefined) return undefined;
  const version = findText(args, "authenticationTokenWebhookVersion") === "v1" ? "v1" : "v1beta1";
  return { file, version, ttlMs };
}

function parseTtl(text: string | undefined): number {
  if (text === undefined) return TTL_MS;
  try {
    return Number(parseDuration(text) / 1_000_000n);
  } catch (cause) {
    const flag = "--authentication-token-webhook-cache-ttl";
    throw new UsageError(`${flag} must be a duration like 30s, found "${text}"`, { cause });
  }
}

function parseList(args: Arguments, name: string): readonly string[] | undefined {
  const text = findText(args, name);
  if (text === undefined) return undefined;
  const words = text.split(",").map((word) => word.trim());
  const filled = words.filter((word) => word !== "");
  return filled.length === 0 ? undefined : filled;
}

/** Bounds as for TokenRequest: at least ten minutes. */
const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;

function parseSeconds(args: Arguments): number | undefined {
  const text = findText(args, "serviceAccountMaxTokenExpiration");
  if (text === undefined) return undefined;
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (seconds >= SECONDS_MIN && seconds <= SECONDS_MAX) return seconds;
  throw new UsageError(
    `--service-account-max-token-expiration must be a number of seconds from ${String(SECONDS_MIN)} to 2^32, found "${text}"`,
  );
}

function parseOidc(args: Arguments, path: PathOf): AuthenticationFlags["oidc"] {
  const issuerUrl = findText(args, "oidcIssuerUrl");
  const clientId = findText(args, "oidcClientId");
  if ((issuerUrl === undefined) !== (clientId === undefined))
    throw new UsageError("--oidc-issuer-url and --oidc-client-id must be given together");
  if (issuerUrl === undefined || clientId === undefined) return undefined;
  return {
    issuerUrl,
    clientId,
    usernameClaim: findText(args, "oidcUsernameClaim"),
    usernamePrefix: findText(args, "oidcUsernamePrefix"),
    groupsClaim: findText(args, "oidcGroupsClaim"),
    groupsPrefix: findText(args, "oidcGroupsPrefix"),
    requiredClaims: parseClaims(findText(args, "oidcRequiredClaim") ?? ""),
    algorithms: parseList(args, "oidcSigningAlgs"),
    caFile: path("oidcCaFile"),
  };
}

function parseClaims(text: string): Readonly<Record<string, string>> {
  const claims = new Map<string, string>();
  for (const part of text.split(",").filter((word) => word.trim() !== "")) {
    const { name, value } = /^(?<name>[^=]+)=(?<value>.*)$/.exec(part.trim())?.groups ?? {};
    if (name === undefined || value === undefined)
      throw new UsageError(`--oidc-required-claim must be like NAME=VALUE,NAME=VALUE, found "${part}"`);
    claims.set(name, value);
  }
  return Object.fromEntries(claims);
}
