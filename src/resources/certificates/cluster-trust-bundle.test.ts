import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { clusterTrustBundle } from "./cluster-trust-bundle.ts";

const probe = new KindProbe(clusterTrustBundle);

describe("a ClusterTrustBundle", () => {
  test.each([
    ["", 'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided'],
    [
      "-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n",
      'spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: KEY',
    ],
    ["a".repeat(1024 * 1024 + 1), "spec.trustBundle: Too long: may not be more than 1048576 bytes"],
  ])("holds only CA certificates: %#", (trustBundle, problem) => {
    expect(probe.problems({ spec: { trustBundle } })).toEqual([problem]);
  });
});
