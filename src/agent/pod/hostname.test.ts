import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findNameProblem, kernelNameOf } from "./hostname.ts";

function podOf(spec: Partial<Pod["spec"]>, name = "web-0"): Pod {
  const metadata = { name, namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: "" };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [], ...spec }, status: {} };
}

describe("the name of a pod's machine", () => {
  test.each<[Partial<Pod["spec"]>, string]>([
    [{}, "web-0"],
    [{ hostname: "h", subdomain: "db" }, "h"],
    [{ hostname: "h", subdomain: "db", setHostnameAsFQDN: true }, "h.db.default.svc.cluster.local"],
    [{ setHostnameAsFQDN: true }, "web-0"],
    [{ hostname: "h", subdomain: "db", hostnameOverride: "my.host.example" }, "my.host.example"],
  ])("with %j is %s", (spec, name) => {
    expect(kernelNameOf(podOf(spec))).toBe(name);
    expect(findNameProblem(podOf(spec))).toBeUndefined();
  });

  test("is refused when it is longer than the kernel's bound", () => {
    const pod = podOf({ hostname: "h".repeat(40), subdomain: "db", setHostnameAsFQDN: true });

    expect(findNameProblem(pod)).toMatch(
      /is too long \(64 characters is the max, 69 characters requested\)$/,
    );
  });

  test("is cut at 63 characters without a domain", () => {
    expect(kernelNameOf(podOf({}, "n".repeat(80)))).toBe("n".repeat(63));
  });
});
