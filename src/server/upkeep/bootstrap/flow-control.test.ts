import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { encodeObject } from "../../objects/object-encoder.ts";
import { DEFAULT_LEVELS, DEFAULT_SCHEMAS } from "../../stages/fairness/default-flows.ts";
import { listAt, ServerFixture, textAt } from "../fixture.ts";

const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";
const LEVELS = `${FLOWS}/prioritylevelconfigurations`;
const SCHEMAS = `${FLOWS}/flowschemas`;
const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

async function dangling(server: ServerFixture, name: string): Promise<Condition | undefined> {
  const { body } = await server.send("GET", `${SCHEMAS}/${name}`);
  return listAt<Condition>(body, "status", "conditions").find(({ type }) => type === "Dangling");
}

function names(items: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] {
  return items.map(({ metadata }) => metadata.name).toSorted();
}

describe("the flow control of a new server", () => {
  test("a new server has kube-apiserver's flow control objects", async () => {
    const server = await ServerFixture.start();

    const levels = await server.send("GET", LEVELS);
    const schemas = await server.send("GET", SCHEMAS);

    expect(names(listAt(levels.body, "items"))).toEqual(DEFAULT_LEVELS.map(({ name }) => name).toSorted());
    expect(names(listAt(schemas.body, "items"))).toEqual(DEFAULT_SCHEMAS.map(({ name }) => name).toSorted());
    const [first] = listAt<{ metadata: object }>(schemas.body, "items");
    expect(first?.metadata).toMatchObject({ annotations: { [AUTO_UPDATE]: "true" }, generation: 1 });
    expect(await dangling(server, "catch-all")).toMatchObject({
      status: "False",
      reason: "Found",
      message:
        'This FlowSchema references the PriorityLevelConfiguration object named "catch-all" and it exists',
    });
  });

  test.each([
    [`${LEVELS}/catch-all`, { limited: { nominalConcurrencyShares: 9 } }],
    [`${SCHEMAS}/catch-all`, { matchingPrecedence: 9000 }],
    [`${SCHEMAS}/exempt`, { rules: [] }],
  ])("a change of a mandatory object is refused: %s", async (path, spec) => {
    const server = await ServerFixture.start();

    const { code, body } = await server.patch(path, { spec });

    expect(code).toBe(422);
    expect(textAt(body, "message")).toContain("must equal the fixed value");
  });

  test("the seats of the exempt level can be changed", async () => {
    const server = await ServerFixture.start();
    const path = `${LEVELS}/exempt`;
    const exempt = { nominalConcurrencyShares: 10, lendablePercent: 50 };
    await server.patch(path, { spec: { exempt } });

    await server.upkeep.settle();

    expect((await server.send("GET", path)).body["spec"]).toEqual({ type: "Exempt", exempt });
  });

  test("a mandatory level is restored, whatever changed it", async () => {
    const server = await ServerFixture.start();
    const path = `${LEVELS}/catch-all`;
    const { body } = await server.send("GET", path);
    const spec = { type: "Limited", limited: { ...body["spec"]?.["limited"], nominalConcurrencyShares: 9 } };
    const { bytes } = encodeObject({ ...body, spec } as JsonObject as ApiObject);
    const key = "/registry/prioritylevelconfigurations/catch-all";
    await server.verbParts.store.write({ changes: [{ type: "put", key, value: bytes }] });

    await server.upkeep.settle();

    expect((await server.send("GET", path)).body["spec"]).toEqual(body["spec"]);
  });

  test("a suggested schema is restored", async () => {
    const server = await ServerFixture.start();
    const path = `${SCHEMAS}/probes`;
    const { body } = await server.send("GET", path);
    await server.patch(path, { spec: { matchingPrecedence: 7 } });

    await server.upkeep.settle();

    expect((await server.send("GET", path)).body["spec"]).toEqual(body["spec"]);
  });

  test("a suggested schema with another owner is left alone", async () => {
    const server = await ServerFixture.start();
    const path = `${SCHEMAS}/probes`;
    await server.patch(path, {
      metadata: { annotations: { [AUTO_UPDATE]: "false" } },
      spec: { matchingPrecedence: 7 },
    });

    await server.upkeep.settle();

    expect((await server.send("GET", path)).body["spec"]).toMatchObject({ matchingPrecedence: 7 });
  });

  test("a mandatory schema is restored even if its annotation opts out", async () => {
    const server = await ServerFixture.start();
    const path = `${SCHEMAS}/exempt`;
    await server.patch(path, { metadata: { annotations: { [AUTO_UPDATE]: "false" } } });

    await server.upkeep.settle();

    const { body } = await server.send("GET", path);
    expect(body["metadata"]).toMatchObject({ annotations: { [AUTO_UPDATE]: "true" } });
    expect(listAt(body, "spec", "rules")).toHaveLength(1);
  });

  test("obsolete suggested schemas are deleted, and schemas of users are kept", async () => {
    const server = await ServerFixture.start();
    const spec = { priorityLevelConfiguration: { name: "system" }, matchingPrecedence: 600 };
    await server.send("POST", SCHEMAS, {
      metadata: { name: "gone", annotations: { [AUTO_UPDATE]: "true" } },
      spec,
    });
    await server.send("POST", SCHEMAS, { metadata: { name: "mine" }, spec });

    await server.upkeep.settle();

    expect((await server.send("GET", `${SCHEMAS}/gone`)).code).toBe(404);
    expect((await server.send("GET", `${SCHEMAS}/mine`)).code).toBe(200);
  });

  test("deleted objects are restored, and every schema reports whether its level exists", async () => {
    const server = await ServerFixture.start();
    const ending = new AbortController();
    const running = server.upkeep.run(ending.signal);

    await server.send("DELETE", `${LEVELS}/workload-low`);
    await server.send("DELETE", `${SCHEMAS}/service-accounts`);
    const spec = { priorityLevelConfiguration: { name: "later" }, matchingPrecedence: 600 };
    await server.send("POST", SCHEMAS, { metadata: { name: "mine" }, spec });

    await expect.poll(async () => (await server.send("GET", `${LEVELS}/workload-low`)).code).toBe(200);
    await expect.poll(async () => (await dangling(server, "service-accounts"))?.status).toBe("False");
    await expect
      .poll(() => dangling(server, "mine"))
      .toMatchObject({
        status: "True",
        reason: "NotFound",
        message:
          'This FlowSchema references the PriorityLevelConfiguration object named "later" but there is no such object',
      });
    const limited = { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } };
    await server.send("POST", LEVELS, { metadata: { name: "later" }, spec: { type: "Limited", limited } });
    await expect.poll(async () => (await dangling(server, "mine"))?.status).toBe("False");

    ending.abort();
    await running;
    expect(textAt((await server.send("GET", `${SCHEMAS}/mine`)).body, "metadata", "uid")).not.toBe("");
  });
});
