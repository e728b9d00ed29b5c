/** Webhooks that are unreachable, answer nonsense, or are slow. */
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { listening, makeAuthority } from "../../src/server/egress/fixture.ts";
import { text } from "../api-harness.ts";
import { CONFIG_MAPS, refusal, withWebhooks } from "./webhook-fixture.ts";
import type { WebhookFixture } from "./webhook-fixture.ts";
import { configuration, ruleFor } from "./webhook-server.ts";
import type { Answer, Behaviour } from "./webhook-server.ts";

const CREATED = ruleFor("configmaps", "CREATE");
const MERGE = { type: "application/merge-patch+json" };
const FAILED = 'Internal error occurred: failed calling webhook "hook0.v.example.com": ';

/** Never answers; the server's timeout ends the call. */
const hang: Behaviour = () => new Promise<Answer>(() => undefined);

async function refusedWith(world: WebhookFixture): Promise<string> {
  const [code, message] = refusal(await world.configMap("a"));
  expect(code).toBe(500);
  expect(message).toContain(FAILED);
  return message.slice(FAILED.length);
}

describe("a webhook that cannot be reached", () => {
  test("fails closed when its certificate is not trusted, by any issuer", () =>
    withWebhooks(async (world) => {
      const { url } = world.clientConfig("/v/0");
      const other = Buffer.from((await makeAuthority("other")).cert).toString("base64");
      const post = `failed to call webhook: Post "${url}?timeout=10s": `;
      const untrusted = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
      await world.register("Validating", "v", [{ rules: [CREATED], clientConfig: { url } }]);
      expect(await refusedWith(world)).toBe(post + untrusted);

      await world.api.send("DELETE", `${world.place("Validating")}/v`);
      await world.register("Validating", "v", [{ rules: [CREATED], clientConfig: { url, caBundle: other } }]);
      expect(await refusedWith(world)).toBe(post + untrusted);

      expect(world.hooks.asked).toEqual([]);
    }));

  test("fails closed when the connection is refused, and open with failurePolicy Ignore", () =>
    withWebhooks(async (world) => {
      const server = createServer();
      const port = await listening(server);
      await new Promise((resolve) => server.close(resolve));
      const url = `https://127.0.0.1:${String(port)}/`;
      const hook = { rules: [CREATED], clientConfig: { url } };
      await world.register("Validating", "open", [{ ...hook, failurePolicy: "Ignore" }]);
      await world.register("Mutating", "open", [{ ...hook, failurePolicy: "Ignore" }]);
      expect((await world.configMap("open")).code).toBe(201);

      await world.register("Validating", "v", [hook]);

      expect(await refusedWith(world)).toBe(
        `failed to call webhook: Post "${url}?timeout=10s": dial tcp 127.0.0.1:${String(port)}: connect: connection refused`,
      );
    }));

  test.each(["Fail", "Ignore"])(
    "is waited for no longer once the client has left, and nothing is written (%s)",
    (failurePolicy) =>
      withWebhooks(async (world) => {
        const client = new AbortController();
        const leave: Behaviour = () => {
          client.abort();
          return new Promise<Answer>(() => undefined);
        };
        await world.register("Validating", "v", [{ rules: [CREATED], failurePolicy, behaviour: leave }]);
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

        const { code } = await world.api.send("POST", CONFIG_MAPS, body, { signal: client.signal });

        expect(code).toBe(failurePolicy === "Fail" ? 500 : 504);
        expect((await world.api.send("GET", `${CONFIG_MAPS}/a`)).code).toBe(404);
      }),
    // The webhook's ten seconds would be over by then.
    5000,
  );

  test("is given as long as it asks for, and no longer", () =>
    withWebhooks(async (world) => {
      const slow = { rules: [CREATED], timeoutSeconds: 1 };
      await world.register("Validating", "v", [{ ...slow, behaviour: hang }]);
      const { url } = world.clientConfig("/v/0");
      expect(await refusedWith(world)).toBe(
        `failed to call webhook: Post "${url}?timeout=1s": context deadline exceeded`,
      );

      await world.api.send("DELETE", `${world.place("Validating")}/v`);
      await world.register("Mutating", "m", [{ ...slow, failurePolicy: "Ignore", behaviour: hang }]);

      expect((await world.configMap("b")).code).toBe(201);
    }));
});

describe("an answer", () => {
  test.each<[string, Answer, string]>([
    [
      "that leads elsewhere is not followed",
      { http: { status: 307, headers: { location: "https://127.0.0.1:1/secret" } } },
      "failed to call webhook: the server responded with the status code 307 but did not return more information",
    ],
    [
      "of a path that is not there",
      { http: { status: 404, body: "" } },
      "failed to call webhook: the server could not find the requested resource",
    ],
    [
      "of a server that broke",
      { http: { status: 500, headers: { "content-type": "text/plain" }, body: "oops\n" } },
      'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding',
    ],
    [
      "to another question",
      { review: { response: { uid: "other", allowed: true } } },
      'received invalid webhook response: expected response.uid="',
    ],
    [
      "without a response",
      { review: { response: undefined } },
      "received invalid webhook response: webhook response was absent",
    ],
    ["that is no JSON", { http: { status: 200, body: "hello" } }, "failed to call webhook: "],
    [
      "that is too long",
      { http: { status: 200, body: " ".repeat(3 * 1024 * 1024 + 1) } },
      "the answer is longer than 3145728 bytes",
    ],
  ])("%s fails the request", (_, answer, told) =>
    withWebhooks(async (world) => {
      await world.register("Validating", "v", [{ rules: [CREATED], behaviour: () => answer }]);

      expect(await refusedWith(world)).toContain(told);
    }),
  );

  test("is counted, with what came of it", () =>
    withWebhooks(async (world) => {
      await world.register("Validating", "v", [
        { rules: [CREATED], behaviour: () => ({ allowed: false, status: { code: 403 } }) },
        { rules: [CREATED], failurePolicy: "Ignore", behaviour: () => ({ http: { status: 500 } }) },
      ]);

      await world.configMap("a");

      const exposed = (await world.api.send("GET", "/metrics")).bytes.toString();
      for (const line of [
        'apiserver_admission_webhook_rejection_count{error_type="no_error",name="hook0.v.example.com",operation="CREATE",rejection_code="403",type="validating"} 1',
        'apiserver_admission_webhook_fail_open_count{name="hook1.v.example.com",type="validating"} 1',
        'apiserver_admission_webhook_admission_duration_seconds_count{name="hook0.v.example.com",operation="CREATE",rejected="true",type="validating"} 1',
        'apiserver_admission_webhook_request_total{code="403",name="hook0.v.example.com",operation="CREATE",rejected="true",type="validating"} 1',
      ])
        expect(exposed).toContain(line);
    }));
});

describe("a webhook that may not do what it wants", () => {
  test("cannot change what is deleted", () =>
    withWebhooks(async (world) => {
      await world.configMap("a");
      const patch = [{ op: "add", path: "/data", value: {} }];
      const rules = [ruleFor("configmaps", "DELETE")];
      await world.register("Mutating", "m", [{ rules, behaviour: () => ({ patch }) }]);

      const refused = await world.api.send("DELETE", `${CONFIG_MAPS}/a`);

      expect(refusal(refused)).toEqual([
        500,
        'Internal error occurred: admission webhook "hook0.m.example.com" attempted to modify the object, which is not supported for this operation',
      ]);
    }));

  test("is not asked in a dry run when it may have effects of its own", () =>
    withWebhooks(async (world) => {
      const hook = { clientConfig: world.clientConfig("/old/0"), rules: [CREATED], sideEffects: "Some" };
      // Only old servers accepted such a configuration.
      const key = "/registry/validatingwebhookconfigurations/old";
      const value = Buffer.from(JSON.stringify(configuration("Validating", "old", [hook])));
      await world.api.store.write({ changes: [{ type: "put", key, value }] });
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

      const refused = await world.api.send("POST", `${CONFIG_MAPS}?dryRun=All`, body);
      const made = await world.api.send("POST", CONFIG_MAPS, body);

      expect(refusal(refused)).toEqual([
        400,
        'admission webhook "hook0.old.example.com" does not support dry run',
      ]);
      expect(made.code).toBe(201);
      expect(world.hooks.asked).toHaveLength(1);
    }));
});

describe("a service reference", () => {
  const slice = (port: number): object => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "hook-1",
      namespace: "default",
      labels: { "kubernetes.io/service-name": "hook" },
      uid: "1",
    },
    addressType: "IPv4",
    ports: [{ name: "", port, protocol: "TCP" }],
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
  });
  const service = { namespace: "default", name: "hook", path: "/v/0" };
  const services = "/api/v1/namespaces/default/services";

  test("leads to a ready endpoint of the service, which must have a certificate for its name", () =>
    withWebhooks(async (world) => {
      const { caBundle } = world.clientConfig("");
      await world.register("Validating", "v", [{ rules: [CREATED], clientConfig: { service, caBundle } }]);
      const post = 'failed to call webhook: Post "https://hook.default.svc:443/v/0?timeout=10s": ';
      expect(await refusedWith(world)).toBe(`${post}service "hook" not found`);
      await world.api.send("POST", services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "hook" },
        spec: {
          clusterIP: "None",
          selector: { app: "hook" },
          ports: [{ port: 443, targetPort: world.port }],
        },
      });
      expect(await refusedWith(world)).toBe(`${post}no endpoints available for service "hook"`);
      // The API refuses loopback addresses, which this test's webhook uses.
      const key = "/registry/endpointslices/default/hook-1";
      const value = Buffer.from(JSON.stringify(slice(world.port)));
      await world.api.store.write({ changes: [{ type: "put", key, value }] });

      const made = await world.configMap("a");

      expect(made.body["message"]).toBeUndefined();
      expect(world.hooks.requests("/v/0")).toHaveLength(1);
    }));
});

describe("while a webhook is asked", () => {
  const manager = (name: string): object[] => [
    {
      name: "who",
      expression: `has(request.options.fieldManager) && request.options.fieldManager == '${name}'`,
    },
  ];
  const patch = (world: WebhookFixture, who: string, data: object): ReturnType<WebhookFixture["configMap"]> =>
    world.api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=${who}`, { data }, MERGE);

  test("no other request waits", () =>
    withWebhooks(async (world) => {
      let podCode = 0;
      const behaviour: Behaviour = async () => {
        podCode = (await world.pod("quick")).code;
        return {};
      };
      await world.register("Validating", "v", [{ rules: [CREATED], behaviour }]);

      const slow = await world.configMap("slow");

      expect([podCode, slow.code]).toEqual([201, 201]);
    }));

  test("a faster write is not overwritten: the webhook is called again with the newest object", () =>
    withWebhooks(async (world) => {
      await world.configMap("a", { a: "1" });
      const rules = [ruleFor("configmaps", "UPDATE")];
      let rounds = 0;
      const behaviour: Behaviour = async () => {
        rounds += 1;
        if (rounds === 1) await patch(world, "fast", { fast: "yes" });
        return {};
      };
      await world.register("Validating", "v", [{ rules, matchConditions: manager("slow"), behaviour }]);

      const changed = await patch(world, "slow", { slow: "yes" });

      expect(changed.body["data"]).toEqual({ a: "1", fast: "yes", slow: "yes" });
      expect(world.hooks.requests("/v/0").map(({ oldObject }) => oldObject?.["data"])).toEqual([
        { a: "1" },
        { a: "1", fast: "yes" },
      ]);
    }));

  test("a request that is overtaken again and again fails with a conflict", () =>
    withWebhooks(async (world) => {
      await world.configMap("a");
      let rounds = 0;
      const behaviour: Behaviour = async () => {
        rounds += 1;
        await patch(world, "fast", { round: String(rounds) });
        return {};
      };
      const rules = [ruleFor("configmaps", "UPDATE")];
      await world.register("Mutating", "m", [{ rules, matchConditions: manager("slow"), behaviour }]);

      const refused = await patch(world, "slow", { slow: "yes" });

      expect(refused.code).toBe(409);
      expect(text(refused.body["reason"])).toBe("Conflict");
      expect(rounds).toBe(5);
    }));

  test("a deletion that is refused leaves the object, and one that is overtaken is judged again", () =>
    withWebhooks(async (world) => {
      await world.configMap("a");
      let rounds = 0;
      const behaviour: Behaviour = async ({ oldObject }) => {
        rounds += 1;
        if (rounds === 1) await patch(world, "fast", { keep: "yes" });
        return { allowed: oldObject?.["data"]?.["keep"] === undefined };
      };
      await world.register("Validating", "v", [{ rules: [ruleFor("configmaps", "DELETE")], behaviour }]);

      const refused = await world.api.send("DELETE", `${CONFIG_MAPS}/a`);

      expect(refusal(refused)).toEqual([
        400,
        'admission webhook "hook0.v.example.com" denied the request without explanation',
      ]);
      expect(rounds).toBe(2);
    }));
});
