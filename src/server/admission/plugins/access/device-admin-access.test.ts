import { describe, expect, test } from "vitest";
import { AdmissionFixture } from "../../admission-fixture.ts";
import type { AdmissionOutcome, Written } from "../../admission-fixture.ts";

const CLAIMS = "resourceclaims.resource.k8s.io";
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "c", adminAccess: true } }] };
const results = [{ request: "gpu", driver: "d", pool: "p", device: "x", adminAccess: true }];
const granted = { allocation: { devices: { results } } };
const REFUSAL =
  "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";

function claim(rest: object, version = "v1"): Written {
  const metadata = { name: "c", namespace: "default" };
  return { apiVersion: `resource.k8s.io/${version}`, kind: "ResourceClaim", metadata, ...rest };
}

async function worldWith(labels: object): Promise<AdmissionFixture> {
  const fixture = new AdmissionFixture();
  const metadata = { name: "default", labels };
  await fixture.put("namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
  return fixture;
}

async function create(object: Written, resource = CLAIMS): Promise<AdmissionOutcome> {
  return (await worldWith({})).attempt({ operation: "CREATE", resource, object });
}

describe("admin access to devices", () => {
  test("is accepted in namespaces with the label", async () => {
    const fixture = await worldWith({ "resource.kubernetes.io/admin-access": "true" });
    const object = claim({ spec: { devices } });

    expect(await create(object)).toMatchObject({
      code: 422,
      refusal: `ResourceClaim.resource.k8s.io "c" is invalid: spec.devices.requests[0].adminAccess: ${REFUSAL}`,
    });
    expect(await fixture.attempt({ operation: "CREATE", resource: CLAIMS, object })).toMatchObject({
      code: 200,
    });
  });

  test("is checked in v1beta1 and in templates too", async () => {
    const requests = [{ name: "gpu", deviceClassName: "c", adminAccess: true }];
    const template = { ...claim({ spec: { spec: { devices } } }), kind: "ResourceClaimTemplate" };

    expect(await create(claim({ spec: { devices: { requests } } }, "v1beta1"))).toMatchObject({ code: 422 });
    expect(await create(template, "resourceclaimtemplates.resource.k8s.io")).toMatchObject({ code: 422 });
  });

  test("is not allocated to a claim elsewhere, and a claim that has it keeps it", async () => {
    const fixture = await worldWith({});
    const object = claim({ spec: { devices }, status: granted });
    const write = { operation: "UPDATE", resource: `${CLAIMS}/status`, object } as const;

    expect(await fixture.attempt({ ...write, previous: claim({ spec: { devices } }) })).toMatchObject({
      refusal: expect.stringContaining(
        `status.allocation.devices.results[0].adminAccess: ${REFUSAL}`,
      ) as string,
    });
    expect(await fixture.attempt({ ...write, previous: object })).toMatchObject({ code: 200 });
  });
});
