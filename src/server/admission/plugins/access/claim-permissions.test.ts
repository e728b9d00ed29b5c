import { describe, expect, test } from "vitest";
import type { Requester } from "../../../../resources/rules/kind-rules.ts";
import type { Authorizer } from "../../../access/authz/authorizer.ts";
import { AdmissionFixture } from "../../admission-fixture.ts";
import type { AdmissionOutcome, Written } from "../../admission-fixture.ts";

const RESOURCE = "resourceclaims.resource.k8s.io";
const DRIVER = "gpu.example.com";
const OTHER = "nic.example.com";

function claim(status: object = {}, spec: object = {}): Written {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "c", namespace: "default" },
    spec,
    status,
  };
}

/** An allocation of devices that only one node can use. */
function allocation(node: string, ...drivers: readonly string[]): object {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  const results = drivers.map((driver) => ({ request: "r", driver, pool: "p", device: "d" }));
  return { nodeSelector: { nodeSelectorTerms: [{ matchFields }] }, devices: { results } };
}

function told(driver: string, message = ""): object {
  return { driver, pool: "p", device: "d", data: { message } };
}

/** Allows `verb subresource namespace name`, and records the questions. */
function allowing(...allowed: readonly string[]): {
  readonly authorizer: Authorizer;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    decide({ verb, subresource, namespace, name }) {
      const text = [verb, subresource, namespace, name].filter((part) => part !== "").join(" ");
      asked.push(text);
      return { outcome: allowed.includes(text) ? "allowed" : "no opinion", reason: "" };
    },
  };
  return { authorizer, asked };
}

const ON_N1: Requester = {
  name: "system:serviceaccount:kube-system:driver",
  uid: "",
  groups: [],
  extra: { "authentication.kubernetes.io/node-name": ["n1"] },
};

interface Change {
  readonly from: object;
  readonly to: object;
  readonly user?: Requester;
}

function write(authorizer: Authorizer, { from, to, user = ON_N1 }: Change): Promise<AdmissionOutcome> {
  const fixture = new AdmissionFixture({}, authorizer);
  const write = { operation: "UPDATE", resource: `${RESOURCE}/status`, user } as const;
  return fixture.attempt({ ...write, object: claim(to), previous: claim(from) });
}

const GIVEN = { allocation: allocation("n1", DRIVER) };

describe("allocating or releasing devices", () => {
  const consumer = { resource: "pods", name: "p", uid: "u" };

  test.each([
    ["gives them", { from: {}, to: GIVEN }],
    ["takes them back", { from: GIVEN, to: {} }],
    ["lets a pod use them", { from: GIVEN, to: { ...GIVEN, reservedFor: [consumer] } }],
  ])("requires a permission for all claims: %s", async (_what, change) => {
    const refused = await write(allowing().authorizer, change);
    const { authorizer, asked } = allowing("update binding");

    expect(refused.code).toBe(422);
    expect(refused.refusal).toContain(
      'status: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: ' +
        'resourceclaims.resource.k8s.io is forbidden: User "system:serviceaccount:kube-system:driver" cannot update resource "resourceclaims/binding"',
    );
    expect((await write(authorizer, change)).refusal).toBe("");
    expect(asked).toEqual(["update binding"]);
  });

  test("requires no permission for their status", async () => {
    const { authorizer, asked } = allowing("update binding");

    const { refusal } = await write(authorizer, { from: { ...GIVEN, devices: [told(DRIVER)] }, to: {} });

    expect([refusal, asked]).toEqual(["", ["update binding"]]);
  });
});

describe("reporting the status of devices", () => {
  const telling = { from: GIVEN, to: { ...GIVEN, devices: [told(DRIVER)] } };
  const near = `associated-node:update driver default ${DRIVER}`;
  const far = `arbitrary-node:update driver default ${DRIVER}`;

  test("requires no permission without a change", async () => {
    const { authorizer, asked } = allowing();

    await write(authorizer, { from: telling.to, to: telling.to });

    expect(asked).toEqual([]);
  });

  test("requires the permission for their driver on its own node, or on any node", async () => {
    const [ofNode, ofAny, none] = [allowing(near), allowing(far), allowing()];

    expect((await write(ofNode.authorizer, telling)).refusal).toBe("");
    expect((await write(ofAny.authorizer, telling)).refusal).toBe("");
    const { code, refusal } = await write(none.authorizer, telling);

    expect([ofNode.asked, ofAny.asked, none.asked]).toEqual([[near], [near, far], [near, far]]);
    expect(code).toBe(422);
    expect(refusal).toContain("status.devices: Forbidden: changing status.devices requires");
  });

  test.each<readonly [string, Requester, object]>([
    ["another node", ON_N1, { allocation: allocation("n2", DRIVER) }],
    ["no node", { ...ON_N1, extra: {} }, GIVEN],
    ["a node itself", { ...ON_N1, name: "system:node:n1" }, GIVEN],
  ])("requires the permission for any node elsewhere: %s", async (_what, user, from) => {
    const { authorizer, asked } = allowing(near);

    const { code } = await write(authorizer, { from, to: { ...from, devices: [told(DRIVER)] }, user });

    expect([code, asked]).toEqual([422, [far]]);
  });

  test("requires it for each changed driver, even if its status is removed", async () => {
    const both = { allocation: allocation("n1", DRIVER, OTHER) };
    const { authorizer, asked } = allowing(near);

    const { refusal } = await write(authorizer, {
      from: { ...both, devices: [told(DRIVER), told(OTHER)] },
      to: { ...both, devices: [told(DRIVER, "new")] },
    });

    expect(asked).toEqual([near, near.replace(DRIVER, OTHER), far.replace(DRIVER, OTHER)]);
    expect(refusal).toContain(`"${OTHER}" is forbidden`);
  });
});
