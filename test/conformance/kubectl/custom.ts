import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

/** Definitions belong to the whole cluster: each claim has a group of its own. */
function definition(group: string): object {
  const properties = {
    spec: {
      type: "object",
      description: "Target temperature.",
      required: ["celsius"],
      properties: {
        celsius: { type: "integer", minimum: 5, maximum: 30, description: "The temperature that is wanted." },
        replicas: { type: "integer", default: 1 },
        mode: { type: "string", enum: ["heat", "cool"], default: "heat" },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `thermostats.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "thermostats", kind: "Thermostat", shortNames: ["th"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", description: "Thermostat keeps a room warm.", properties },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          additionalPrinterColumns: [
            { name: "Celsius", type: "integer", jsonPath: ".spec.celsius" },
            { name: "Mode", type: "string", jsonPath: ".spec.mode", priority: 1 },
          ],
        },
      ],
    },
  };
}

function thermostat(group: string, spec: object): object {
  return { apiVersion: `${group}/v1`, kind: "Thermostat", metadata: { name: "hall" }, spec };
}

async function withThermostats(kubectl: Kubectl, group: string): Promise<string> {
  kubectl.file("crd.json", definition(group));
  await kubectl.ok("apply", "-f", "crd.json");
  await kubectl.ok("wait", "--for=condition=established", `crd/thermostats.${group}`, "--timeout=30s");
  return `thermostats.v1.${group}`;
}

export function customClaims({ namespace }: Suite): void {
  test("a definition is applied, waited for, and its kind used at once", async () => {
    const kubectl = namespace();
    const group = "used.example.com";
    const kind = await withThermostats(kubectl, group);
    kubectl.file("hall.json", thermostat(group, { celsius: 21 }));

    expect(await kubectl.ok("apply", "-f", "hall.json")).toBe(`thermostat.${group}/hall created\n`);
    expect(await kubectl.ok("apply", "-f", "hall.json")).toBe(`thermostat.${group}/hall unchanged\n`);
    expect(await kubectl.ok("get", kind)).toMatch(/^NAME +CELSIUS\nhall +21\n$/);
    expect(await kubectl.ok("get", `th.v1.${group}`, "-o", "wide")).toMatch(
      /^NAME +CELSIUS +MODE\nhall +21 +heat\n$/,
    );
    await kubectl.ok("patch", kind, "hall", "--type=merge", "-p", '{"spec":{"celsius":19}}');
    expect(await kubectl.ok("scale", kind, "hall", "--replicas=3")).toContain("scaled");
    expect((await kubectl.json("get", kind, "hall"))["spec"]).toEqual({
      celsius: 19,
      mode: "heat",
      replicas: 3,
    });
    expect(await kubectl.ok("delete", kind, "hall")).toContain("deleted");
  });

  test("a kind explains itself in the words of its author", async () => {
    const kubectl = namespace();
    const group = "explained.example.com";
    await withThermostats(kubectl, group);

    const kind = await kubectl.ok("explain", "thermostats", `--api-version=${group}/v1`);
    const field = await kubectl.ok("explain", "thermostats.spec.celsius", `--api-version=${group}/v1`);

    expect(kind).toContain("Thermostat keeps a room warm.");
    expect(kind).toContain("spec\t<Object>");
    expect(field).toContain("celsius <integer>");
    expect(field).toContain("The temperature that is wanted.");
  });

  test("mistakes are named by their fields, and unknown ones are refused", async () => {
    const kubectl = namespace();
    const group = "strict.example.com";
    await withThermostats(kubectl, group);
    kubectl.file("hot.json", thermostat(group, { celsius: 50, mode: "melt" }));
    kubectl.file("odd.json", thermostat(group, { celsius: 20, colour: "red" }));

    const hot = await kubectl.refused("create", "-f", "hot.json");
    const odd = await kubectl.refused("create", "-f", "odd.json");

    expect(hot).toContain(
      "spec.celsius: Invalid value: 50: spec.celsius in body should be less than or equal to 30",
    );
    expect(hot).toContain('spec.mode: Unsupported value: "melt": supported values: "heat", "cool"');
    expect(odd).toContain('unknown field "spec.colour"');
  });

  test("a deleted definition takes its objects with it", async () => {
    const kubectl = namespace();
    const group = "gone.example.com";
    const kind = await withThermostats(kubectl, group);
    kubectl.file("hall.json", thermostat(group, { celsius: 21 }));
    await kubectl.ok("apply", "-f", "hall.json");

    await kubectl.ok("delete", "crd", `thermostats.${group}`, "--timeout=30s");

    // The output depends on the age of kubectl's own resource cache.
    expect(await kubectl.refused("get", kind)).toMatch(
      /the server (?:doesn't have a resource type|could not find the requested resource)/,
    );
  });
}
