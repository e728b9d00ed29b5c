/** Options by which a server knows who people and programs are: under kube-apiserver's names, lists with commas. */
import { parseDuration } from "../api/values/time.ts";
import type { AuthenticationFlags } from "../cluster/files/authentication-files.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const authenticationOptions: readonly OptionSpec[] = [
  {
    flags: "--service-account-issuer <urls>",
    help: "who tokens of service accounts come from; those of the second and later are accepted only",
  },
  {
    flags: "--api-audiences <list>",
    help: "for whom tokens must be to be accepted here (default: the issuers of service accounts)",
  },
  {
    flags: "--service-account-jwks-uri <url>",
    help: "where others find the keys of service accounts' tokens",
  },
  {
    flags: "--service-account-max-token-expiration <seconds>",
    help: "tokens of service accounts live no longer than this",
  },
  { flags: "--token-auth-file <file>", help: 'a file with lines TOKEN,USER,UID,"GROUP,GROUP"' },
  {
    flags: "--authentication-config <file>",
    help: "an AuthenticationConfiguration: issuers of tokens, and who may stay anonymous",
  },
  { flags: "--oidc-issuer-url <url>", help: "an OpenID Connect issuer whose tokens are accepted" },
  { flags: "--oidc-client-id <id>", help: "for whom its tokens must be" },
  { flags: "--oidc-username-claim <claim>", help: "the claim that is the user's name", fallback: "sub" },
  {
    flags: "--oidc-username-prefix <prefix>",
    help: "put before user names, - for none (default: the issuer and #, none for email)",
  },
  { flags: "--oidc-groups-claim <claim>", help: "the claim that lists the user's groups" },
  { flags: "--oidc-groups-prefix <prefix>", help: "put before the names of groups" },
  { flags: "--oidc-required-claim <list>", help: "claims that tokens must have: NAME=VALUE,NAME=VALUE" },
  { flags: "--oidc-signing-algs <list>", help: "how its tokens may be signed", fallback: "RS256" },
  { flags: "--oidc-ca-file <file>", help: "whom to trust when its keys are fetched" },
  {
    flags: "--authentication-token-webhook-config-file <file>",
    help: "a kubeconfig: who is asked about tokens that nobody here knows",
  },
  {
    flags: "--authentication-token-webhook-version <version>",
    help: "of the reviews that it is sent",
    choices: ["v1", "v1beta1"],
    fallback: "v1beta1",
  },
  {
    flags: "--authentication-token-webhook-cache-ttl <time>",
    help: "how long its answers hold",
    fallback: "2m",
  },
  {
    flags: "--requestheader-allowed-names <list>",
    help: "common names of front proxies",
    fallback: "front-proxy-client",
  },
  {
    flags: "--anonymous-auth <choice>",
    help: "whether requests without credentials are let in, as far as roles allow (default: true)",
    choices: ["true", "false"],
  },
];

type PathOf = (name: string) => string | undefined;

/** Undefined when nothing is said about it. */
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

/** As upstream's. */
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

/** As for a token that is asked for: no less than ten minutes. */
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
