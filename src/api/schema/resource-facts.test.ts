import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findKindSchema } from "./built-in-schema.ts";
import { type ResourceFacts, apiVersionOf, groupVersions, isServedByDefault } from "./resource-facts.ts";

function resource(group: string, version: string, name: string): ResourceFacts {
  const found = groupVersions()
    .find((entry) => entry.group === group && entry.version === version)
    ?.resources.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

describe("resource facts", () => {
  const all = groupVersions().flatMap(({ resources }) => resources);

  test("a default server serves the stable versions", () => {
    expect(groupVersions()).toHaveLength(36);
    expect(groupVersions().filter(isServedByDefault)).toHaveLength(22);
  });

  test("every resource has a schema", () => {
    const without = all.filter((entry) => findKindSchema(apiVersionOf(entry), entry.kind) === undefined);
    expect(without).toEqual([]);
  });

  test("every stored resource has a prefix, an existing version, and its hash", () => {
    for (const { name, kind, storage } of all) {
      if (storage === undefined) continue;
      expect(findKindSchema(apiVersionOf(storage), kind), name).toBeDefined();
      const text = `${storage.group}/${storage.version}/${kind}`;
      const hash = createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
      // Upstream still shows the hash of a version that it no longer serves.
      if (kind !== "CustomResourceDefinition") expect(storage.hash, name).toBe(hash);
    }
  });

  test("the facts of one resource from several files are merged", () => {
    expect(resource("", "v1", "endpoints").storage).toMatchObject({
      prefix: "services/endpoints",
      createsOnUpdate: true,
      updatesUnconditionally: true,
      hasGeneration: false,
      showsDeleted: false,
    });
    expect(resource("certificates.k8s.io", "v1", "certificatesigningrequests").fieldSelectors).toEqual([
      "spec.signerName",
    ]);
    expect(resource("autoscaling", "v1", "horizontalpodautoscalers").storage?.version).toBe("v2");
    expect(resource("events.k8s.io", "v1", "events").storage).toMatchObject({
      group: "",
      version: "v1",
      prefix: "events",
    });
    expect(resource("apiregistration.k8s.io", "v1", "apiservices").storage?.prefix).toBe(
      "apiregistration.k8s.io/apiservices",
    );
    expect(
      resource("apps", "v1", "deployments").subresources.map(({ name, kind, group }) => [name, kind, group]),
    ).toEqual([
      ["scale", "Scale", "autoscaling"],
      ["status", "Deployment", "apps"],
    ]);
    expect(
      resource("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations").columns?.[1]?.name,
    ).toBe("Webhooks");
  });

  test("a resource that is never stored has no storage facts", () => {
    expect(resource("authentication.k8s.io", "v1", "tokenreviews").storage).toBeUndefined();
    expect(resource("", "v1", "bindings").storage).toBeUndefined();
  });
});
