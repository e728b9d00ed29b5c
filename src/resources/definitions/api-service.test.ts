import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { apiService } from "./api-service.ts";

const probe = new KindProbe(apiService);
const metadata = { name: "v1.example.com" };
const spec = { group: "example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 15 };

describe("an APIService", () => {
  test("that is local is available at once", () => {
    expect(probe.created({ metadata, spec })).toMatchObject({
      status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
    });
    expect(
      probe.created({ metadata, spec: { ...spec, service: { name: "a", namespace: "b" } } }),
    ).toMatchObject({
      spec: { service: { port: 443 } },
      status: {},
    });
  });

  test.each([
    [{}, []],
    [
      { version: "v2" },
      [
        'metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "v2.example.com"',
      ],
    ],
    [{ versionPriority: 0 }, ["spec.versionPriority: Invalid value: 0: must be positive and less than 1000"]],
    [
      { groupPriorityMinimum: 20_001 },
      ["spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000"],
    ],
    [{ service: { name: "a" } }, ["spec.service.namespace: Required value"]],
    [
      { insecureSkipTLSVerify: true },
      [
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
      ],
    ],
  ])("has the name of its version and group: %#", (change, problems) => {
    expect(probe.problems({ metadata, spec: { ...spec, ...change } })).toEqual(problems);
  });

  test.each([
    [{ spec }, ["v1.example.com", "Local", "Unknown", "2m5s"]],
    [
      {
        spec: { ...spec, service: { namespace: "b", name: "a" } },
        status: { conditions: [{ type: "Available", status: "False", reason: "MissingEndpoints" }] },
      },
      ["v1.example.com", "b/a", "False (MissingEndpoints)", "2m5s"],
    ],
    [
      { spec, status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] } },
      ["v1.example.com", "Local", "True", "2m5s"],
    ],
  ])("shows its service and availability: %#", (manifest, cells) => {
    expect(probe.cells({ metadata, ...manifest })).toEqual(cells);
  });
});
