/** Builds the authenticators, in the order in which they are asked. */
import type { Log } from "../../../base/log/log.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { Store } from "../../../store/store.ts";
import type { Egress } from "../../egress/egress.ts";
import type { Registry } from "../../objects/registry.ts";
import { DEFAULT_AUTHORIZERS } from "../authz/authorization-options.ts";
import type { AuthorizationOptions } from "../authz/authorization-options.ts";
import { accountTokens } from "./account-tokens.ts";
import type { AccountTokenParts } from "./account-tokens.ts";
import { anonymous, isOpenToAll } from "./anonymous.ts";
import type { AnonymousRule } from "./anonymous.ts";
import type { Authenticator, TokenAuthenticator } from "./authenticator.ts";
import { bearer, BearerTokens } from "./bearer-tokens.ts";
import { bootstrapTokens } from "./bootstrap-tokens.ts";
import { certificate } from "./certificate.ts";
import { frontProxy } from "./front-proxy.ts";
import { commonAudiences } from "./jwt.ts";
import { objectFinder } from "./object-finder.ts";
import { otherIssuers } from "./oidc/other-issuers.ts";
import type { LiveRules } from "./oidc/other-issuers.ts";
import { fileTokens } from "./token-file.ts";
import type { StaticToken } from "./token-file.ts";
import type { TokenIssuer, TokenIssuerSettings } from "./token-issuer.ts";
import { VerificationGate } from "./verification-gate.ts";
import { webhookTokens } from "./webhook-tokens.ts";
import type { TokenWebhookOptions } from "./webhook-tokens.ts";

/** Authentication settings. Default: as kubeadm configures a server. */
export interface AuthenticationOptions {
  /** Settings of service account tokens. */
  readonly tokens?: TokenIssuerSettings;
  readonly staticTokens?: readonly StaticToken[];
  /** Rules for tokens of OpenID Connect issuers. */
  readonly jwt?: LiveRules;
  /** Asked last, for tokens that no other authenticator accepts. */
  readonly webhook?: TokenWebhookOptions | undefined;
  /** Common names that a front proxy's certificate may have. */
  readonly frontProxyNames?: readonly string[] | undefined;
  readonly anonymous?: AnonymousRule | undefined;
}

export interface TokenSurroundings {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly tokens: TokenIssuer;
  readonly egress: Egress;
  /** Called when a token of a Secret is used and the Secret's last-used date is not today's. */
  readonly onSecretUse?: AccountTokenParts["onSecretUse"];
}

export const FRONT_PROXY_NAMES: readonly string[] = ["front-proxy-client"];

export function createBearerTokens(
  { loop, store, registry, tokens, egress, onSecretUse }: TokenSurroundings,
  { staticTokens = [], jwt, webhook }: AuthenticationOptions = {},
): BearerTokens {
  const objects = objectFinder(store, registry);
  const { audiences } = tokens;
  const gate = new VerificationGate();
  const others: TokenAuthenticator[] = [];
  if (staticTokens.length > 0)
    others.push(fileTokens(staticTokens, loop.random("token-file").bytes(DIGEST_KEY_BYTES)));
  others.push(bootstrapTokens({ loop, objects }));
  if (jwt !== undefined) others.push(otherIssuers(jwt, { loop, egress, gate }));
  const key = (): Uint8Array => loop.random("token-webhook").bytes(DIGEST_KEY_BYTES);
  return new BearerTokens(
    [
      accountTokens({ loop, tokens, objects, onSecretUse }),
      ...others.map((kind) => forServer(kind, audiences)),
      ...(webhook === undefined
        ? []
        : [webhookTokens(webhook, { loop, egress, gate, audiences, key: key() })]),
    ],
    audiences,
  );
}

const DIGEST_KEY_BYTES = 32;

/** Treats tokens without audiences as tokens for this server. */
function forServer(kind: TokenAuthenticator, own: readonly string[]): TokenAuthenticator {
  return {
    find(token, wanted, notes) {
      const audiences = wanted === own ? own : commonAudiences(wanted, own);
      return audiences.length === 0 ? undefined : kind.find(token, audiences, notes);
    },
  };
}

export interface AuthenticatorParts {
  readonly tokens: BearerTokens;
  readonly authorizers: AuthorizationOptions | undefined;
  readonly log: Log;
}

export function createAuthenticators(
  { tokens, authorizers = DEFAULT_AUTHORIZERS, log }: AuthenticatorParts,
  { frontProxyNames = FRONT_PROXY_NAMES, anonymous: asked = EVERY_PATH }: AuthenticationOptions = {},
): readonly Authenticator[] {
  const isReset = isOpenToAll(asked, authorizers);
  if (isReset)
    log.warn("anonymous access is off, because AlwaysAllow would make every client an administrator");
  const rule = isReset ? NO_PATH : asked;
  return [certificate, frontProxy(frontProxyNames), bearer(tokens), anonymous(rule)];
}

const EVERY_PATH: AnonymousRule = { enabled: true, paths: [] };
const NO_PATH: AnonymousRule = { enabled: false, paths: [] };
