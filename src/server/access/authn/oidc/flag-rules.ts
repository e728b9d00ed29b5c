/** Rules of the one issuer that the `--oidc-…` flags describe. */
import { ALGORITHMS, discoveryUrlOf } from "./configuration.ts";
import type { JwtRules, MappedText } from "./configuration.ts";
import { findUrlProblem } from "./read-configuration.ts";

export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Default: `sub`. */
  readonly usernameClaim?: string | undefined;
  /** `-` means no prefix. Default: the issuer's URL and `#`, or no prefix for the claim `email`. */
  readonly usernamePrefix?: string | undefined;
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
  readonly requiredClaims?: Readonly<Record<string, string>> | undefined;
  /** Default: RS256. */
  readonly algorithms?: readonly string[] | undefined;
  readonly caFile?: string | undefined;
}

/** Throws an error that names the flag. `ca` is PEM. */
export function oidcRules(flags: OidcFlags, ca: string | undefined): JwtRules {
  const { issuerUrl, clientId, groupsClaim, groupsPrefix = "", requiredClaims = {} } = flags;
  const { algorithms = ["RS256"] } = flags;
  const problem = findUrlProblem(issuerUrl);
  if (problem !== undefined) throw new Error(`--oidc-issuer-url: ${problem}, found "${issuerUrl}"`);
  const unknown = algorithms.filter((name) => !ALGORITHMS.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `--oidc-signing-algs must be among ${ALGORITHMS.join(", ")}, found ${unknown.join(", ")}`,
    );
  return {
    issuer: { url: issuerUrl, discoveryUrl: discoveryUrlOf(issuerUrl), audiences: [clientId], ca },
    algorithms,
    claimRules: Object.entries(requiredClaims).map(([claim, value]) => ({ type: "value", claim, value })),
    username: usernameOf(flags),
    groups:
      groupsClaim === undefined ? undefined : { type: "claim", claim: groupsClaim, prefix: groupsPrefix },
    uid: undefined,
    extra: [],
    userRules: [],
  };
}

function usernameOf({ issuerUrl, usernameClaim: claim = "sub", usernamePrefix }: OidcFlags): MappedText {
  const usual = claim === "email" ? "" : `${issuerUrl}#`;
  const prefix = usernamePrefix === "-" ? "" : (usernamePrefix ?? usual);
  return { type: "claim", claim, prefix };
}
