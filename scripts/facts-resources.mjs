// The resources of the published API, each with all that the facts say of it under one name or another.
import { createHash } from "node:crypto";

/** Strategy of custom resources, a generator's own and test groups: no built-in resource has them. */
const FOREIGN_STRATEGIES = new Set(["customresource", "flowcontrol/ensurer", "testapigroup/carp"]);
/** Resources whose strategy or columns go by another name than group and kind. */
const STRATEGY_NAMES = {
  endpoints: "core/endpoint",
  certificatesigningrequests: "certificates/certificates",
  apiservices: "apiservice",
  customresourcedefinitions: "customresourcedefinition",
  storageversionmigrations: "storagemigration/storagemigration",
};
const COLUMN_NAMES = {
  MutatingWebhookConfiguration: "MutatingWebhook",
  ValidatingWebhookConfiguration: "ValidatingWebhook",
  DeviceTaintRule: "DeviceTaint",
};
/** Groups whose objects lie under their group in the store, because upstream serves them from a server of their own. */
const GROUP_PREFIXED = new Set(["apiregistration.k8s.io", "apiextensions.k8s.io"]);

export function resourceTable(facts) {
  const hashes = storageHashes(facts.groupVersions);
  const used = {
    strategies: new Set(FOREIGN_STRATEGIES),
    columns: new Set(["Scale", "Status"]),
    selectors: new Set(),
  };
  const groupVersions = facts.groupVersions.map(({ group, version, resources }) => ({
    group,
    version,
    order: facts.order[`${group}/${version}`],
    resources: resources
      .filter(({ name }) => !name.includes("/"))
      .map((resource) => ({
        ...plainResource(resource),
        ...storageOf({ facts, hashes, group, version, resource }),
        ...rulesOf({ facts, used, group, version, resource }),
        subresources: resources
          .filter(({ name }) => name.startsWith(`${resource.name}/`))
          .map((sub) => subresource(sub, { group, version })),
      })),
  }));
  reportUnused(facts, used);
  return groupVersions;
}

function plainResource({ name, singularName, kind, namespaced, verbs, shortNames, categories }) {
  return { name, singular: singularName, kind, namespaced, verbs, shortNames, categories };
}

function subresource({ name, kind, verbs, group, version }, owner) {
  return {
    name: name.split("/")[1],
    kind,
    verbs,
    group: group ?? owner.group,
    version: version ?? owner.version,
    foreign: group === undefined ? undefined : true,
  };
}

function storageHashes(groupVersions) {
  const hashes = new Map();
  for (const { group, version, resources } of groupVersions) {
    for (const { kind } of resources) {
      const digest = createHash("sha256").update(`${group}/${version}/${kind}`).digest();
      hashes.set(digest.subarray(0, 8).toString("base64"), { group, version });
    }
  }
  return hashes;
}

/** The version that is stored is the one whose hash discovery shows; of one no longer served, the one that is. */
function storageOf({ facts, hashes, group, version, resource }) {
  const { name, storageVersionHash: hash } = resource;
  if (hash === undefined) return {};
  const stored = hashes.get(hash) ?? { group, version };
  if (!hashes.has(hash) && version !== "v1") throw new Error(`no version has the hash of ${name}.${group}`);
  const override = facts.storage.prefixes[group === "" ? name : `${name}.${group}`];
  const own = GROUP_PREFIXED.has(group) ? `${group}/${name}` : name;
  return { hash, storedGroup: stored.group, storedVersion: stored.version, prefix: override ?? own };
}

function rulesOf({ facts, used, group, version, resource }) {
  const family =
    group === "" ? "core" : group === "internal.apiserver.k8s.io" ? "apiserverinternal" : group.split(".")[0];
  const strategyName =
    STRATEGY_NAMES[resource.name] ?? `${family === "events" ? "core" : family}/${resource.singularName}`;
  const columnName = COLUMN_NAMES[resource.kind] ?? resource.kind;
  const selectorName = `${family}/${version} ${resource.kind}`;
  used.strategies.add(strategyName);
  used.columns.add(columnName);
  used.selectors.add(selectorName);
  return {
    strategy: facts.strategies[strategyName],
    columns: facts.columns[columnName],
    selectors: facts.selectors[selectorName],
  };
}

/** A fact that no resource took is a name that was not understood. */
function reportUnused(facts, used) {
  for (const [topic, names] of Object.entries(used)) {
    const served = (name) =>
      topic !== "selectors" || !/v1(alpha|beta)\d (CertificateSigningRequest|PodCert)/.test(name);
    const unused = Object.keys(facts[topic]).filter((name) => !names.has(name) && served(name));
    if (unused.length > 0) throw new Error(`no resource takes these ${topic}: ${unused.join(", ")}`);
  }
}
