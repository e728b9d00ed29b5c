/** Responses to bodies that are not readable as a custom resource or as DeleteOptions. */
import { describe, expect, test } from "vitest";
import { hasCondition, TestApi, until } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/example.com/v1/namespaces/default/things";
const merge = { type: "application/merge-patch+json" };

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

const head = { apiVersion: "example.com/v1", kind: "Thing" };

async function withThings(): Promise<TestApi> {
  const api = await TestApi.start();
  await api.send("POST", DEFINITIONS, definition);
  await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));
  return api;
}

const UNNAMED = "couldn't get version/kind; json parse error: json: cannot unmarshal";

describe("a custom resource", () => {
  test("without metadata has no name", async () => {
    await using api = await withThings();

    const { code, body } = await api.send("POST", THINGS, head);

    expect([code, body["message"]]).toEqual([
      422,
      'Thing.example.com "" is invalid: metadata.name: Required value: name or generateName is required',
    ]);
  });

  test("cannot lose its metadata by a patch", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, { ...head, metadata: { name: "a" } });

    const { code, body } = await api.send("PATCH", `${THINGS}/a`, { metadata: null }, merge);

    expect([code, body["message"]]).toEqual([
      400,
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    ]);
  });

  test.each([
    [{ name: 1 }, "number into Go struct field ObjectMeta.name of type string"],
    [{ labels: { a: 1 } }, "number into Go struct field ObjectMeta.labels of type string"],
    [[], "array into Go value of type v1.ObjectMeta"],
  ])("with metadata %j is told what is wrong with it", async (metadata, why) => {
    await using api = await withThings();

    const { code, body } = await api.send("POST", THINGS, { ...head, metadata });

    expect([code, body["message"]]).toEqual([
      400,
      `Thing in version "v1" cannot be handled as a Thing: json: cannot unmarshal ${why}`,
    ]);
  });

  test.each([
    ['{"kind":"Thing","apiVersion":1}', `${UNNAMED} number into Go struct field .apiVersion of type string`],
    ['{"kind":[]}', `${UNNAMED} array into Go struct field .kind of type string`],
    ['{"kind":"Thing","apiVersion":"a/b/c"}', "unexpected GroupVersion string: a/b/c"],
    ["{}", "Object 'Kind' is missing in '{}'"],
  ])("that says in %s what it is is shown as far as it was read", async (sent, why) => {
    await using api = await withThings();

    const { code, body } = await api.send("POST", THINGS, Buffer.from(sent));

    const shown = sent.length > 30 ? `${sent.slice(0, 30)} ...` : sent;
    const message = `the object provided is unrecognized (must be of type Thing): ${why} (${shown})`;
    expect([code, body["message"]]).toEqual([400, message]);
  });

  test("that was changed meanwhile is a conflict before it is of the wrong kind", async () => {
    await using api = await withThings();
    const { body: old } = await api.send("POST", THINGS, { ...head, metadata: { name: "a" } });
    await api.send("PATCH", `${THINGS}/a`, { metadata: { labels: { b: "c" } } }, merge);

    const { code } = await api.send("PUT", `${THINGS}/a`, { ...old, kind: "Other" });

    expect(code).toBe(409);
  });

  test("of another kind is not looked for fields that its kind has not", async () => {
    await using api = await withThings();

    const sent = { ...head, kind: "Other", metadata: { name: "a" }, more: 1 };
    const { code } = await api.send("PUT", `${THINGS}/a?fieldValidation=Strict`, sent);

    expect(code).toBe(404);
  });

  test("that has a name and a way to find one is told that neither was free", async () => {
    await using api = await withThings();
    const sent = { ...head, metadata: { name: "a", generateName: "a-" } };
    await api.send("POST", THINGS, sent);

    const { code, body, headers } = await api.send("POST", THINGS, sent);

    expect([code, body["message"], headers.get("retry-after")]).toEqual([
      409,
      'things.example.com "a" already exists, the server was not able to generate a unique name for the object',
      "1",
    ]);
  });

  test("is patched by null in words of its own", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, { ...head, metadata: { name: "a" } });

    const { code, body } = await api.send("PATCH", `${THINGS}/a`, Buffer.from("null"), merge);

    expect([code, body["message"]]).toEqual([400, "Invalid JSON Patch"]);
  });

  test("of the wrong type by a patch is told as a mistake in the patch", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, { ...head, metadata: { name: "a" } });

    const { code, body } = await api.send("PATCH", `${THINGS}/a`, { metadata: [] }, merge);

    const object = '{\\"apiVersion\\":\\"example.com/v1\\",\\"kind\\":\\"Thing\\",\\"metadata\\":[]}';
    const why = "json: cannot unmarshal array into Go value of type v1.ObjectMeta";
    expect([code, body["message"]]).toEqual([
      422,
      ` "" is invalid: patch: Invalid value: "${object}": ${why}`,
    ]);
  });
});

describe("options of a deletion", () => {
  test.each([
    [
      '{"gracePeriodSeconds":"x"}',
      /^json: cannot unmarshal string into Go struct field DeleteOptions\.gracePer/,
    ],
    ['{"kind":"Pod","apiVersion":"v1"}', /^no kind "Pod" is registered for version "v1"/],
    ['{"apiVersion":1}', /^couldn't get version\/kind; json parse error: json: cannot unmarshal number/],
    ["[]", /^couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value/],
    ["{", /^couldn't get version\/kind; json parse error: /],
  ])("that cannot be read are told plainly: %s", async (sent, message) => {
    await using api = await withThings();

    const { code, body } = await api.send("DELETE", `${THINGS}/a`, Buffer.from(sent));

    expect(code).toBe(400);
    expect(body["message"]).toMatch(message);
  });

  test.each(["null", '{"apiVersion":"apps/v1"}', '{"apiVersion":"any/v9","kind":"DeleteOptions"}'])(
    "may be %s",
    async (sent) => {
      await using api = await withThings();
      await api.send("POST", THINGS, { ...head, metadata: { name: "a" } });

      const { code } = await api.send("DELETE", `${THINGS}/a`, Buffer.from(sent));

      expect(code).toBe(200);
    },
  );
});
