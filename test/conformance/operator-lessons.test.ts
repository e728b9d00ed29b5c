/** Claims that whole operators brought to light, one test each. */
import { expect, test } from "vitest";
import { until } from "../api-harness.ts";
import { CONFIG_MAPS, refusal, withWebhooks } from "./webhook-fixture.ts";
import type { WebhookFixture } from "./webhook-fixture.ts";
import type { Answer, Behaviour, ReviewRequest } from "./webhook-server.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const OLD_WIDGETS = "/apis/example.com/v1alpha1/namespaces/default/widgets";
const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
const RULE = {
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["configmaps", "widgets"],
};

/** v1 counts copies where v1alpha1 counts workers. */
const convert: Behaviour = (request): Answer => {
  const { uid, desiredAPIVersion, objects } = request as typeof request & ConversionRequest;
  const isOld = desiredAPIVersion.endsWith("v1alpha1");
  const [from, to] = isOld ? ["replicas", "workers"] : ["workers", "replicas"];
  const convertedObjects = objects.map(({ spec, ...object }) => ({
    ...object,
    apiVersion: desiredAPIVersion,
    spec: { [to]: spec[from] },
  }));
  const response = { uid, convertedObjects, result: { status: "Success" } };
  const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response };
  return { http: { status: 200, body: JSON.stringify(body) } };
};

interface ConversionRequest extends Pick<ReviewRequest, "uid"> {
  readonly desiredAPIVersion: string;
  readonly objects: readonly { readonly spec: Readonly<Record<string, unknown>> }[];
}

function scaledVersion(name: string, counter: string): object {
  const integer = { type: "object", properties: { [counter]: { type: "integer" } } };
  return {
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: { type: "object", properties: { spec: integer } } },
    subresources: {
      scale: { specReplicasPath: `.spec.${counter}`, statusReplicasPath: ".status.replicas" },
    },
  };
}

async function defineScaled(world: WebhookFixture): Promise<void> {
  world.hooks.on("/convert", convert);
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: world.clientConfig("/convert") };
  const versions = [scaledVersion("v1", "replicas"), scaledVersion("v1alpha1", "workers")];
  await world.define(versions, { conversion: { strategy: "Webhook", webhook } });
}

function widget(spec: object): object {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec };
}

test("a scale is read and written in a version that its author converts", () =>
  withWebhooks(async (world) => {
    const { api } = world;
    await defineScaled(world);
    await api.send("POST", WIDGETS, widget({ replicas: 2 }));

    const shown = await api.send("GET", `${OLD_WIDGETS}/a/scale`);
    const written = await api.send("PUT", `${OLD_WIDGETS}/a/scale`, {
      ...shown.body,
      spec: { replicas: 5 },
    });

    expect(shown).toMatchObject({ code: 200, body: { spec: { replicas: 2 } } });
    expect(written).toMatchObject({ code: 200, body: { spec: { replicas: 5 } } });
    expect((await api.send("GET", `${WIDGETS}/a`)).body["spec"]).toEqual({ replicas: 5 });
  }));

test("instances go with their definition, whatever webhooks would say", () =>
  withWebhooks(async (world) => {
    const { api } = world;
    await world.define([scaledVersion("v1", "replicas")]);
    await api.send("POST", WIDGETS, widget({ replicas: 1 }));
    await world.register("Validating", "held", [{ rules: [RULE], behaviour: () => ({ allowed: false }) }]);

    const asked = await api.send("DELETE", `${WIDGETS}/a`);
    await api.send("DELETE", DEFINITION);
    await until(api, DEFINITION, (object) => object === undefined);

    expect(refusal(asked)).toEqual([
      400,
      `admission webhook "hook0.held.example.com" denied the request without explanation`,
    ]);
    expect((await api.send("GET", WIDGETS)).code).toBe(404);
  }));

test("a conflicting apply is refused before any webhook is called", () =>
  withWebhooks(async (world) => {
    const { api, hooks } = world;
    const object = (k: string): object => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      data: { k },
    });
    await api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=ann`, object("1"), APPLY);
    await world.register("Validating", "strict", [{ rules: [RULE], behaviour: () => ({ allowed: false }) }]);

    const refused = await api.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=ben`, object("2"), APPLY);

    expect(refusal(refused)).toEqual([409, 'Apply failed with 1 conflict: conflict with "ann": .data.k']);
    expect(hooks.requests("/strict/0")).toEqual([]);
  }));

const APPLY = { type: "application/apply-patch+yaml" };
