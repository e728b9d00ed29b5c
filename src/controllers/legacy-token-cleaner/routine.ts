/**
 * Removes unused auto-generated ServiceAccount tokens.
 *
 * Reads Secrets, ServiceAccounts, Pods and the ConfigMap with the start of the server's usage records. Labels a token as invalid after a
 * year without use, and deletes it a year later.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { ConfigMap, Pod, Secret, ServiceAccount } from "../../api/generated/types/core-v1.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import { dayText, INVALID_SINCE, TRACKED_SINCE, TRACKING } from "../../resources/core/legacy-token.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import { nextPeriod } from "../next-period.ts";
import { planTokens } from "./plan-tokens.ts";
import type { TokenAction } from "./plan-tokens.ts";

export const legacyTokenCleaner: Routine = {
  name: "legacy-serviceaccount-token-cleaner-controller",
  reads: [Secret, ServiceAccount, Pod],
  run,
};

const PERIOD_MS = 24 * 3_600_000;

async function run(parts: RoutineParts, signal: AbortSignal): Promise<void> {
  do await clean(parts, signal);
  while (await nextPeriod(parts.loop, PERIOD_MS, signal));
}

async function clean(parts: RoutineParts, signal: AbortSignal): Promise<void> {
  const { cache, client, loop, log } = parts;
  try {
    const tracking = await client(ConfigMap).find(TRACKING);
    const plan = planTokens({
      now: loop.now(),
      since: tracking?.data?.[TRACKED_SINCE],
      secrets: cache(Secret).walk(),
      pods: cache(Pod).walk(),
      findAccount: (namespace, name) => cache(ServiceAccount).find({ namespace, name }),
    });
    const actions = await runInTurns(plan, loop, "background");
    for (const action of actions) if (!signal.aborted) await carryOut(parts, action);
  } catch (error) {
    if (!signal.aborted) log.warn("cannot clean up unused tokens; retrying in the next round", { error });
  }
}

/** A failed write does not stop the others. */
async function carryOut(parts: RoutineParts, { secret, action }: TokenAction): Promise<void> {
  const { loop, log } = parts;
  const client = withCause(parts.client, {
    loop: "legacy-token-cleaner",
    type: Secret,
    object: secret,
    note: "has not been used for a long time",
  });
  const { namespace, name, uid, resourceVersion } = secret.metadata;
  try {
    if (action === "delete") await client(Secret).delete(secret, { preconditions: { resourceVersion } });
    else {
      const metadata = { uid, labels: { [INVALID_SINCE]: dayText(loop.now()) } };
      await client(Secret).patch(secret, { type: "merge", changes: { metadata } });
    }
    log.info("cleaned up an unused token", { namespace, name, action });
  } catch (error) {
    if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) return;
    log.warn("cannot clean up an unused token", { namespace, name, error });
  }
}
