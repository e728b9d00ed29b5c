import { expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { ServerFixture } from "../fixture.ts";

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

test("each policy gets its type errors once for each generation, and a deleted policy is not recreated", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const server = await loop.finish(ServerFixture.start({ loop }));
  const ending = new AbortController();
  const running = server.upkeep.run(ending.signal);
  const fits = `object.spec.replicas > 1${" || true".repeat(200)}`;
  const status = async (name: string): Promise<unknown> =>
    (await loop.finish(server.send("GET", `${POLICIES}/${name}`))).body["status"];

  for (let at = 0; at < 30; at++) await loop.finish(server.send("POST", POLICIES, policy(`p${at}`, fits)));
  await loop.finish(server.send("POST", POLICIES, policy("wrong", "object.spec.none == 1")));
  await loop.finish(server.send("DELETE", `${POLICIES}/p0`));
  await loop.advance(10_000);
  expect(await status("wrong")).toMatchObject({
    observedGeneration: 1,
    typeChecking: { expressionWarnings: [{ fieldRef: "spec.validations[0].expression" }] },
  });
  await loop.finish(server.patch(`${POLICIES}/wrong`, { spec: { validations: [{ expression: "true" }] } }));
  await loop.advance(10_000);
  expect(await status("wrong")).toEqual({ observedGeneration: 2, typeChecking: {} });
  expect(await status("p29")).toEqual({ observedGeneration: 1, typeChecking: {} });
  ending.abort();
  await loop.finish(running);

  expect((await loop.finish(server.send("GET", `${POLICIES}/p0`))).code).toBe(404);
});
