/** Since when the use of tokens in Secrets is noted: before that, one that looks unused may not be. */
import type { ConfigMap } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop.ts";
import { dateText } from "../authn/secret-tokens.ts";
import type { Registry } from "../registry.ts";
import { requireStored } from "../registry.ts";
import type { Chore } from "./chore.ts";

const NAME = "kube-apiserver-legacy-service-account-token-tracking";
const KEY = "since";

export function tokenTracking(registry: Registry, loop: Loop): Chore {
  const since = (): { since: string } => ({ since: dateText(loop.now()) });
  return {
    name: "tracking of tokens in Secrets",
    boot: ["poststarthook/start-legacy-token-tracking-controller"],
    objects: [
      {
        resource: requireStored(registry, "", "configmaps"),
        namespace: "kube-system",
        name: NAME,
        manifest: () => ({ data: since() }),
        corrected: (live) => {
          const { data = {} } = live as ConfigMap;
          return isDate(data[KEY] ?? "") ? { ...live } : { ...live, data: { ...data, ...since() } };
        },
      },
    ],
  };
}

/** A day that is in the calendar: `2026-02-30` is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && dateText(at) === text;
}
