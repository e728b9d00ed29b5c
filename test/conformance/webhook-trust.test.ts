/** Webhooks as envtest registers them: `caBundle` is the certificate of the server itself, and the path begins with two slashes. */
import { expect, test } from "vitest";
import { serve } from "../../src/server/egress/fixture.ts";
import { hasCondition, TestApi, until } from "../api-harness.ts";
import { definition, version } from "./webhook-fixture.ts";
import { configuration, ruleFor, WebhookServer } from "./webhook-server.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

test("an admission webhook is known by its own certificate, and asked on a clean path", async () => {
  await using api = await TestApi.start(["default"]);
  const hooks = await WebhookServer.make();
  const pair = await hooks.authority.leaf(["127.0.0.1"]);
  const { port } = await serve(pair, hooks.listener);
  const caBundle = Buffer.from(pair.cert).toString("base64");
  hooks.on("/deny", () => ({ allowed: false, status: { message: "no" } }));
  const clientConfig = { url: `https://127.0.0.1:${String(port)}//deny`, caBundle };
  const hook = { rules: [ruleFor("configmaps", "CREATE")], clientConfig };
  await api.send("POST", CONFIGURATIONS, configuration("Validating", "v", [hook]));

  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const reply = await api.send("POST", "/api/v1/namespaces/default/configmaps", object);

  expect(reply.body["message"]).toBe('admission webhook "hook0.v.example.com" denied the request: no');
});

test("a conversion webhook is known by its own certificate, and asked on a clean path", async () => {
  await using api = await TestApi.start(["default"]);
  const hooks = await WebhookServer.make();
  const pair = await hooks.authority.leaf(["127.0.0.1"]);
  const paths: (string | undefined)[] = [];
  const { port } = await serve(pair, (request, response) => {
    paths.push(request.url);
    response.writeHead(404).end();
  });
  const caBundle = Buffer.from(pair.cert).toString("base64");
  const clientConfig = { url: `https://127.0.0.1:${String(port)}//convert/`, caBundle };
  const conversion = {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig },
  };
  await api.send(
    "POST",
    DEFINITIONS,
    definition([version("v1", {}, true), version("v2", {}, false)], { conversion }),
  );
  await until(api, `${DEFINITIONS}/widgets.example.com`, hasCondition("Established"));

  const object = { apiVersion: "example.com/v2", kind: "Widget", metadata: { name: "a" } };
  await api.send("POST", "/apis/example.com/v2/namespaces/default/widgets", object);

  expect(new Set(paths)).toEqual(new Set(["/convert?timeout=30s"]));
});
