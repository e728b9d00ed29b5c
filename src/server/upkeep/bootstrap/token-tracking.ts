/** Records the start of token use tracking. A token without a recorded use may have been used before that day. */
import type { ConfigMap } from "../../../api/generated/types/core-v1.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { dayText, findDay, TRACKED_SINCE, TRACKING } from "../../../resources/core/legacy-token.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { RequiredObjects } from "../required-objects.ts";

export function tokenTracking(registry: Registry, loop: Loop): RequiredObjects {
  const since = (): Record<string, string> => ({ [TRACKED_SINCE]: dayText(loop.now()) });
  return {
    name: "tracking of tokens in Secrets",
    boot: ["poststarthook/start-legacy-token-tracking-controller"],
    objects: [
      {
        resource: requireStored(registry, "", "configmaps"),
        ...TRACKING,
        manifest: () => ({ data: since() }),
        corrected: (live) => {
          const { data = {} } = live as ConfigMap;
          const isKnown = findDay(data[TRACKED_SINCE] ?? "") !== undefined;
          return isKnown ? { ...live } : { ...live, data: { ...data, ...since() } };
        },
      },
    ],
  };
}
