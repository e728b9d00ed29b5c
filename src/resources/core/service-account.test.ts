import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { serviceAccount } from "./service-account.ts";

const probe = new KindProbe(serviceAccount);

describe("a ServiceAccount", () => {
  test("keeps only the names of its secrets", () => {
    const manifest = { secrets: [{ name: "a", namespace: "other", kind: "Secret" }] };

    expect(probe.created(manifest)).toMatchObject({ secrets: [{ name: "a" }] });
    expect(probe.updated(manifest, {})).toMatchObject({ secrets: [{ name: "a" }] });
    expect(probe.created(manifest)).not.toHaveProperty("secrets[0].namespace");
  });

  test("warns about the deprecated annotation for enforced mountable secrets", () => {
    const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };

    expect(probe.warnings({})).toEqual([]);
    expect(probe.warnings({ metadata: { annotations } })).toEqual([
      "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets",
    ]);
  });

  test("shows its age", () => {
    expect(probe.cells({})).toEqual(["it", "2m5s"]);
  });
});
