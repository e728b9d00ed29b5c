/** `--runtime-config`: decides which group versions are served. */
import { apiVersionOf, isServedByDefault } from "../../api/schema/resource-facts.ts";
import type { ServedVersions } from "../../server/objects/registry.ts";

const ALL = {
  "api/all": /./,
  "api/ga": /^v\d+$/,
  "api/beta": /^v\d+beta\d+$/,
  "api/alpha": /^v\d+alpha\d+$/,
} as const;

/** The most specific entry wins: `apps/v1=false` before `api/ga=true` before `api/all=false`, then the default. */
export function servedVersions(config: Readonly<Record<string, boolean>>): ServedVersions {
  return (groupVersion) => {
    const { version } = groupVersion;
    const own = config[apiVersionOf(groupVersion)];
    if (own !== undefined) return own;
    for (const name of ["api/ga", "api/beta", "api/alpha", "api/all"] as const) {
      const said = config[name];
      if (said !== undefined && ALL[name].test(version)) return said;
    }
    return isServedByDefault(groupVersion);
  };
}
