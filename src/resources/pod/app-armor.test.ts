import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { applyAppArmorAnnotations } from "./app-armor.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const KEY = "container.apparmor.security.beta.kubernetes.io/a";

function annotated(profile: string, spec: Manifest = {}, container: Manifest = {}): Manifest {
  const containers = [{ name: "a", image: "i", ...container }];
  return { metadata: { annotations: { [KEY]: profile } }, spec: { containers, ...spec } };
}

function profileIn(manifest: Manifest): unknown {
  const { spec } = probe.created(manifest) as Draft<Pod>;
  return spec.containers[0]?.securityContext?.appArmorProfile;
}

function warningsOf(manifest: Manifest): readonly string[] {
  const draft = { apiVersion: "v1", kind: "Pod", ...manifest } as Draft<Pod>;
  return applyAppArmorAnnotations(draft);
}

describe("an AppArmor profile in an annotation", () => {
  test.each([
    ["unconfined", { type: "Unconfined" }],
    ["runtime/default", { type: "RuntimeDefault" }],
    ["localhost/mine", { type: "Localhost", localhostProfile: "mine" }],
    ["localhost/", undefined],
    ["", undefined],
  ])("%j becomes the container's field", (text, profile) => {
    expect(profileIn(annotated(text))).toEqual(profile);
  });

  test("overrides neither the container's field nor the pod's", () => {
    const appArmorProfile = { type: "RuntimeDefault" };

    expect(profileIn(annotated("unconfined", {}, { securityContext: { appArmorProfile } }))).toEqual(
      appArmorProfile,
    );
    expect(profileIn(annotated("runtime/default", { securityContext: { appArmorProfile } }))).toBeUndefined();
  });

  test("causes a warning when no field has the same profile", () => {
    const appArmorProfile = { type: "RuntimeDefault" };
    const advice = `metadata.annotations[${KEY}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

    expect(warningsOf(annotated("runtime/default"))).toEqual([advice]);
    expect(warningsOf(annotated("localhost/"))).toEqual([advice]);
    expect(warningsOf(annotated("unconfined", {}, { securityContext: { appArmorProfile } }))).toEqual([]);
    expect(warningsOf(annotated("runtime/default", { securityContext: { appArmorProfile } }))).toEqual([]);
  });

  test("has no effect on Windows", () => {
    expect(profileIn(annotated("unconfined", { os: { name: "windows" } }))).toBeUndefined();
  });

  test("names an existing container and has a known form", () => {
    expect(probe.problems(annotated("odd", {}, { name: "b" }))).toEqual([
      `metadata.annotations[${KEY}]: Invalid value: "a": container not found`,
      `metadata.annotations[${KEY}]: Invalid value: "odd": invalid AppArmor profile name: "odd"`,
    ]);
    expect(probe.problems(annotated("localhost/x"))).toEqual([]);
  });
});
