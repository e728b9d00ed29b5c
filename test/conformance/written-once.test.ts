/** Writes that change nothing, and writes that the server extends. */
import { expect, test } from "vitest";
import { hasCondition, TestApi, until } from "../api-harness.ts";

const APPLY = { type: "application/apply-patch+yaml" };
const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

test("the labels and the selector that the server gives a Job have no owner", async () => {
  await using api = await TestApi.start();
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } };
  const object = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a" }, spec: { template } };

  const { code, body } = await api.send("POST", JOBS, object);

  const spec = body["metadata"]?.["managedFields"]?.["0"]?.["fieldsV1"]?.["f:spec"];
  expect(code).toBe(201);
  expect(spec?.["f:selector"]).toBeUndefined();
  expect(Object.keys(spec?.["f:template"] ?? {})).toEqual(["f:spec"]);
});

test("a bound that is larger than integers of a double is the same when it is sent again", async () => {
  await using api = await TestApi.start();
  const path = `${DEFINITIONS}/widgets.example.com`;
  const priority = `{"type":"integer","maximum":9223372036854775000}`;
  const names = `{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}`;
  const schema = `{"openAPIV3Schema":{"type":"object","properties":{"priority":${priority}}}}`;
  const versions = `[{"name":"v1","served":true,"storage":true,"schema":${schema}}]`;
  const head = `"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"`;
  const spec = `{"group":"example.com","scope":"Namespaced","names":${names},"versions":${versions}}`;
  const text = Buffer.from(`{${head},"metadata":{"name":"widgets.example.com"},"spec":${spec}}`);
  await api.send("PATCH", `${path}?fieldManager=a`, text, APPLY);
  await until(api, path, hasCondition("Established"));
  const stored = await api.send("GET", path);

  const put = await api.send("PUT", `${path}?fieldManager=b`, stored.bytes);
  const applied = await api.send("PATCH", `${path}?fieldManager=a`, text, APPLY);

  expect(put.bytes.equals(stored.bytes)).toBe(true);
  expect(applied.bytes.equals(stored.bytes)).toBe(true);
});
