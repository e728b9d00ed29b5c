/**
 * Authenticates tokens with which nodes join a cluster: `ID.SECRET`, stored in Secrets `bootstrap-token-ID` of
 * kube-system.
 */
import type { Secret } from "../../../api/generated/types/core-v1.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { TokenAuthenticator, TokenFinding } from "./authenticator.ts";
import type { ObjectFinder } from "./object-finder.ts";
import { isSameSecret } from "./secret-equality.ts";

const TOKEN = /^(?<id>[a-z0-9]{6})\.(?<secret>[a-z0-9]{16})$/;
const NAMESPACE = "kube-system";
const TYPE = "bootstrap.kubernetes.io/token";
const DEFAULT_GROUP = "system:bootstrappers";
/** A bootstrap token only grants groups with this prefix. */
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

export interface BootstrapTokenParts {
  readonly loop: Loop;
  readonly objects: ObjectFinder;
}

export function bootstrapTokens({ loop, objects }: BootstrapTokenParts): TokenAuthenticator {
  return {
    find(token, audiences) {
      const { id, secret } = TOKEN.exec(token)?.groups ?? {};
      if (id === undefined || secret === undefined) return undefined;
      const found = objects("secrets", NAMESPACE, `bootstrap-token-${id}`) as Secret | undefined;
      if (found === undefined || !isValid(found, { id, secret, now: loop.now() })) return undefined;
      return bearer(found, id, audiences);
    },
  };
}

interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly now: number;
}

/** Compares the secret before all else, so that response times do not reveal which token IDs exist. */
function isValid(found: Secret, { id, secret, now }: Shown): boolean {
  const isSame = isSameSecret(textOf(found, "token-secret"), secret);
  return (
    isSame &&
    found.type === TYPE &&
    found.metadata.deletionTimestamp === undefined &&
    textOf(found, "token-id") === id &&
    !hasExpired(textOf(found, "expiration"), now) &&
    textOf(found, "usage-bootstrap-authentication") === "true"
  );
}

/** A malformed time counts as expired. */
function hasExpired(text: string, now: number): boolean {
  if (text === "") return false;
  return !RFC3339.test(text) || !(Date.parse(text) > now);
}

function bearer(secret: Secret, id: string, audiences: readonly string[]): TokenFinding | undefined {
  const extra = textOf(secret, "auth-extra-groups");
  const groups = extra === "" ? [] : extra.split(",").map((group) => group.trim());
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  const all = [...new Set([DEFAULT_GROUP, ...groups])].toSorted();
  const user = {
    name: `system:bootstrap:${id}`,
    uid: "",
    groups: [...all, "system:authenticated"],
    extra: {},
  };
  return { type: "bearer", user, audiences };
}

function textOf({ data = {} }: Secret, key: string): string {
  return Buffer.from((Object.hasOwn(data, key) ? data[key] : undefined) ?? "", "base64").toString();
}
