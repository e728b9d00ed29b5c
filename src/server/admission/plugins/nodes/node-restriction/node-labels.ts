/** Decides which node labels in Kubernetes' domains a node may set on itself. Pods select nodes by labels. */
import { ownValue } from "../../../../../resources/rules/value-rules.ts";

type Labels = Readonly<Record<string, string>>;

const RESERVED = "node-restriction.kubernetes.io";
const KUBERNETES = ["kubernetes.io", "k8s.io"];
const OWN: ReadonlySet<string> = new Set([
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
]);
const OWN_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/** Changed labels that no node may set, change or remove, sorted. */
export function forbiddenLabels(next: Labels | undefined, previous: Labels | undefined): readonly string[] {
  const keys = new Set([...Object.keys(next ?? {}), ...Object.keys(previous ?? {})]);
  return [...keys]
    .filter((key) => ownValue(next, key) !== ownValue(previous, key) && isForbidden(key))
    .toSorted();
}

function isForbidden(key: string): boolean {
  const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  if (isWithin(domain, RESERVED)) return true;
  if (!KUBERNETES.some((root) => isWithin(domain, root))) return false;
  return !OWN.has(key) && !OWN_DOMAINS.some((own) => isWithin(domain, own));
}

function isWithin(domain: string, root: string): boolean {
  return domain === root || domain.endsWith(`.${root}`);
}
