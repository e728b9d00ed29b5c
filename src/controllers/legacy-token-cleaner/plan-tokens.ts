/** Finds auto-generated ServiceAccount tokens that were unused for a year. They are invalidated first and deleted a year later. */
import type { Pod, Secret, ServiceAccount } from "../../api/generated/types/core-v1.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import { dayText, findDay, INVALID_SINCE, LAST_USED } from "../../resources/core/legacy-token.ts";
import { podReferences } from "../../resources/pod/pod-references.ts";

const TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";
const DAY_MS = 24 * 3_600_000;
/** Upstream's default of --legacy-service-account-token-clean-up-period. */
const UNUSED_MS = 365 * DAY_MS;

export interface TokenState {
  readonly now: number;
  /** Day since when the server records the use of tokens, from its ConfigMap. */
  readonly since: string | undefined;
  readonly secrets: Iterable<Secret>;
  readonly pods: Iterable<Pod>;
  readonly findAccount: (namespace: string, name: string) => ServiceAccount | undefined;
}

export interface TokenAction {
  readonly secret: Secret;
  readonly action: "invalidate" | "delete";
}

export function* planTokens({
  now,
  since,
  secrets,
  pods,
  findAccount,
}: TokenState): YieldingWork<readonly TokenAction[]> {
  const trackedAt = findDay(since ?? "");
  // Recording may have started at the end of that day, so one day is added.
  if (trackedAt === undefined || now < trackedAt + DAY_MS + UNUSED_MS) return [];
  const before = now - UNUSED_MS;
  const unused: Secret[] = [];
  yield* inSlices(secrets, (secret) => {
    if (isUnused(secret, before) && isGenerated(secret, findAccount(...accountOf(secret))))
      unused.push(secret);
  });
  if (unused.length === 0) return [];
  const mounted = yield* mountedSecrets(pods);
  return unused.flatMap((secret): TokenAction[] => {
    if (mounted.has(`${secret.metadata.namespace ?? ""}/${secret.metadata.name}`)) return [];
    const invalidSince = secret.metadata.labels?.[INVALID_SINCE];
    if (invalidSince === undefined || findDay(invalidSince) === undefined)
      return [{ secret, action: "invalidate" }];
    return invalidSince < dayText(before) ? [{ secret, action: "delete" }] : [];
  });
}

function isUnused({ type, metadata }: Secret, before: number): boolean {
  const { creationTimestamp, deletionTimestamp, labels } = metadata;
  if (type !== TYPE || deletionTimestamp !== undefined) return false;
  if (Date.parse(creationTimestamp) >= before) return false;
  const lastUsed = labels?.[LAST_USED];
  if (lastUsed === undefined) return true;
  // An unreadable date proves nothing, so the token stays.
  return findDay(lastUsed) !== undefined && lastUsed < dayText(before);
}

function accountOf({ metadata: { namespace = "", annotations } }: Secret): readonly [string, string] {
  return [namespace, annotations?.[ACCOUNT_NAME] ?? ""];
}

/** Only tokens in the `secrets` list of their account were generated. Tokens that a user requested with a Secret stay. */
function isGenerated({ metadata }: Secret, account: ServiceAccount | undefined): boolean {
  const uid = metadata.annotations?.[ACCOUNT_UID] ?? "";
  if (account === undefined || (uid !== "" && uid !== account.metadata.uid)) return false;
  return account.secrets?.some(({ name }) => name === metadata.name) === true;
}

/** Items have the form `NAMESPACE/NAME`. */
function* mountedSecrets(pods: Iterable<Pod>): YieldingWork<ReadonlySet<string>> {
  const mounted = new Set<string>();
  yield* inSlices(pods, (pod) => {
    for (const reference of podReferences(pod))
      if (reference.startsWith("secrets/"))
        mounted.add(`${pod.metadata.namespace ?? ""}/${reference.slice("secrets/".length)}`);
  });
  return mounted;
}
