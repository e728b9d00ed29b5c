import { expect, test } from "vitest";
import { ServerFixture } from "./fixture.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

function policy(name: string, expression: string): object {
  const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments"] };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  };
}

test("each policy is told about its types, once for each generation, and none comes back that is gone", async () => {
  const server = await ServerFixture.start();
  const ending = new AbortController();
  const running = server.upkeep.run(ending.signal);
  const fits = `object.spec.replicas > 1${" || true".repeat(200)}`;

  for (let at = 0; at < 30; at++) await server.send("POST", POLICIES, policy(`p${at}`, fits));
  await server.send("POST", POLICIES, policy("wrong", "object.spec.none == 1"));
  await server.send("DELETE", `${POLICIES}/p0`);
  await expect
    .poll(async () => (await server.send("GET", `${POLICIES}/wrong`)).body["status"])
    .toMatchObject({
      observedGeneration: 1,
      typeChecking: { expressionWarnings: [{ fieldRef: "spec.validations[0].expression" }] },
    });
  await server.patch(`${POLICIES}/wrong`, { spec: { validations: [{ expression: "true" }] } });
  await expect
    .poll(async () => (await server.send("GET", `${POLICIES}/wrong`)).body["status"])
    .toEqual({ observedGeneration: 2, typeChecking: {} });
  await expect
    .poll(async () => (await server.send("GET", `${POLICIES}/p29`)).body["status"])
    .toEqual({ observedGeneration: 1, typeChecking: {} });
  ending.abort();
  await running;

  expect((await server.send("GET", `${POLICIES}/p0`)).code).toBe(404);
});
