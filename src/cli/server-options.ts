/** Parsers for options of the API server that need more than a plain word. */
import { groupVersions } from "../api/schema/resource-facts.ts";
import { findCidr } from "../api/values/ip-address.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { UsageError } from "./command.ts";

/** `apps/v1=false,api/beta=true`; a name alone means true. */
export function parseRuntimeConfig(text: string): Readonly<Record<string, boolean>> {
  const config: Record<string, boolean> = {};
  for (const part of text.split(",").filter((word) => word.trim() !== "")) {
    const { name, value = "true" } =
      /^(?<name>[a-z0-9.-]+(?:\/[a-z0-9]+)?)(?:=(?<value>true|false))?$/.exec(part.trim())?.groups ?? {};
    if (name === undefined) {
      throw new UsageError(`--runtime-config must be like apps/v1=false,api/beta=true, found "${part}"`);
    }
    config[name] = value === "true";
  }
  refuseUnknown(Object.keys(config));
  return config;
}

/** Refuses unknown groups, so that a typo is noticed. Any version is accepted, so that flags for older or newer servers work. */
function refuseUnknown(names: readonly string[]): void {
  if (names.length === 0) return;
  const groups = new Set(groupVersions().map(({ group }) => group));
  for (const name of names) {
    const [group = "", version] = name.split("/");
    if (version === undefined ? name === "v1" : group === "api" || groups.has(group)) continue;
    throw new UsageError(
      `--runtime-config must name built-in groups with a version, or api/all, api/ga, api/beta and api/alpha, found "${name}"`,
    );
  }
}

/** One range, or one of each family. */
export function parseServiceCidrs(text: string): readonly string[] {
  return parseCidrs("--service-cidr", text);
}

/** One range, or one of each family. Each node gets a block, so a range holds at least one block. */
export function parsePodCidrs(text: string): readonly string[] {
  const ranges = parseCidrs("--pod-cidr", text);
  for (const range of ranges) {
    const { prefixLength = 0 } = findCidr(range) ?? {};
    const longest = range.includes(":") ? 64 : 24;
    if (prefixLength > longest) {
      throw new UsageError(`--pod-cidr must hold at least a /${longest} for one node, found "${range}"`);
    }
  }
  return ranges;
}

function parseCidrs(flag: string, text: string): readonly string[] {
  const ranges = text.split(",").map((range) => range.trim());
  const families = ranges.map((range) => findCidr(range)?.address.family);
  const isGood =
    families.every((family) => family !== undefined) && new Set(families).size === families.length;
  if (!isGood) {
    throw new UsageError(`${flag} must be a range of addresses for each family, found "${text}"`);
  }
  return ranges;
}

/** `30000-32767`. */
export function parsePortRange(text: string): ClusterOptions["nodePorts"] {
  const { first, last } = /^(?<first>\d{1,5})-(?<last>\d{1,5})$/.exec(text.trim())?.groups ?? {};
  const range = { first: Number(first), last: Number(last) };
  if (!(range.first >= 1 && range.first <= range.last && range.last <= 65_535)) {
    throw new UsageError(`--node-port-range must be FIRST-LAST within 1 to 65535, found "${text}"`);
  }
  return range;
}
