import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { Service } from "../../api/generated/types/core-v1.ts";
import { KindProbe } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { type IpFamily, resolveIpFamilies } from "./service-families.ts";
import { service } from "./service.ts";

const probe = new KindProbe(service);

function resolved(
  spec: object,
  cluster: readonly IpFamily[],
  before?: object,
): { readonly spec: Service["spec"]; readonly problems: readonly string[] } {
  const errors = new FieldErrors();
  const draft = probe.created({ spec }) as Draft<Service>;
  const previous = before === undefined ? undefined : (probe.created({ spec: before }) as Draft<Service>);
  resolveIpFamilies(draft, { cluster, previous, errors });
  return { spec: draft.spec, problems: errors.found.map(fieldErrorText) };
}

describe("the IP families of a Service", () => {
  test.each([
    [{}, ["IPv4"], { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] }],
    [{}, ["IPv6", "IPv4"], { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6"] }],
    [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4"], { ipFamilies: ["IPv4"] }],
    [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4", "IPv6"], { ipFamilies: ["IPv4", "IPv6"] }],
    [
      { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6"] },
      ["IPv4", "IPv6"],
      { ipFamilies: ["IPv6", "IPv4"] },
    ],
    [{ clusterIP: "fd00::1" }, ["IPv4", "IPv6"], { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6"] }],
    [{ clusterIP: "None", ipFamilyPolicy: "RequireDualStack" }, ["IPv4"], { ipFamilies: ["IPv4", "IPv6"] }],
    [{ clusterIP: "None" }, ["IPv6"], { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] }],
    [
      { clusterIP: "None", ipFamilies: ["IPv4"] },
      ["IPv4"],
      { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] },
    ],
    [{ clusterIP: "None", ipFamilyPolicy: "SingleStack" }, ["IPv4"], { ipFamilies: ["IPv4"] }],
    [
      { clusterIP: "None", selector: { a: "b" } },
      ["IPv4"],
      { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] },
    ],
  ] satisfies readonly [object, readonly IpFamily[], object][])(
    "follow from the request: %#",
    (spec, cluster, expected) => {
      expect(resolved(spec, cluster)).toMatchObject({ spec: expected, problems: [] });
    },
  );

  test.each([
    [
      { ipFamilyPolicy: "RequireDualStack" },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [{ ipFamilies: ["IPv6"] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    [
      { clusterIP: "fd00::1" },
      'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    ],
  ])("must be families of the cluster: %#", (spec, problem) => {
    expect(resolved(spec, ["IPv4"]).problems).toEqual([problem]);
  });

  test("are two only with a dual-stack policy", () => {
    const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";

    expect(resolved({ ipFamilies: ["IPv4", "IPv6"] }, ["IPv4", "IPv6"]).problems).toEqual([
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": ${detail} IP families are specified`,
    ]);
    const ips = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] };
    expect(resolved(ips, ["IPv4", "IPv6"]).problems).toEqual([
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": ${detail} cluster IPs are specified`,
    ]);
  });

  test("keep their number when an update omits the policy", () => {
    const before = {
      ipFamilyPolicy: "RequireDualStack",
      ipFamilies: ["IPv4", "IPv6"],
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1", "fd00::1"],
    };
    const first = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] };
    const cluster: readonly IpFamily[] = ["IPv4", "IPv6"];

    expect(resolved({ clusterIP: "10.0.0.1" }, cluster, before).spec.ipFamilyPolicy).toBe("RequireDualStack");
    expect(resolved({ ...first, ipFamilyPolicy: "SingleStack" }, cluster, before).problems).toEqual([]);
    expect(resolved({ ...first, ipFamilies: ["IPv4"] }, cluster, before).problems).toEqual([
      `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP`,
      `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary IP family`,
    ]);
  });

  test("do not grow with the cluster once the preference is resolved", () => {
    const before = { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4"], clusterIP: "10.0.0.1" };

    expect(resolved(before, ["IPv4", "IPv6"], before).spec.ipFamilies).toEqual(["IPv4"]);
  });

  test("are absent for ExternalName", () => {
    expect(resolved({ type: "ExternalName" }, ["IPv4"]).spec).not.toHaveProperty("ipFamilies");
  });
});
