import { describe, expect, test } from "vitest";
import type { PodSpec } from "../../../api/generated/types/core-v1.ts";
import type { DeviceClass } from "../../../api/generated/types/resource-v1.ts";
import { incomplete } from "../../../api/object-fixture.ts";
import { type ExtendedRequests, extendedRequests } from "./extended-requests.ts";

const GPU = "example.com/gpu";
const NIC = "example.com/nic";

function container(name: string, requests: Readonly<Record<string, string>>, restartPolicy?: string): object {
  return { name, resources: { requests }, ...(restartPolicy !== undefined && { restartPolicy }) };
}

function requestsOf(spec: object, names: readonly string[] = [GPU]): ExtendedRequests {
  const classes = names.map(
    (name) => [name, incomplete<DeviceClass>({ metadata: { name: `class-of-${name.slice(-3)}` } })] as const,
  );
  return extendedRequests(spec as PodSpec, new Map(classes));
}

function counts({ requests }: ExtendedRequests): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(requests.map(({ name, exactly }) => [name, exactly?.count]));
}

function uses({ mappings }: ExtendedRequests): readonly string[] {
  return mappings.map(({ containerName, requestName }) => `${containerName} ${requestName}`);
}

describe("the claim for extended resources", () => {
  test("has one request per container and resource, named by their indexes", () => {
    const made = requestsOf(
      {
        containers: [
          container("a", { cpu: "1", [NIC]: "1", [GPU]: "2" }),
          container("b", { [GPU]: "1" }),
          container("c", { cpu: "1", [GPU]: "0" }),
        ],
      },
      [NIC, GPU],
    );

    expect(made.requests).toEqual([
      {
        name: "container-0-request-1",
        exactly: { deviceClassName: "class-of-gpu", allocationMode: "ExactCount", count: 2 },
      },
      {
        name: "container-0-request-2",
        exactly: { deviceClassName: "class-of-nic", allocationMode: "ExactCount", count: 1 },
      },
      {
        name: "container-1-request-0",
        exactly: { deviceClassName: "class-of-gpu", allocationMode: "ExactCount", count: 1 },
      },
    ]);
    expect(made.mappings).toEqual([
      { containerName: "a", resourceName: GPU, requestName: "container-0-request-1" },
      { containerName: "b", resourceName: GPU, requestName: "container-1-request-0" },
      { containerName: "a", resourceName: NIC, requestName: "container-0-request-2" },
    ]);
  });

  test("lets init containers use devices of later containers", () => {
    const made = requestsOf({
      initContainers: [container("init", { [GPU]: "2" })],
      containers: [container("a", { [GPU]: "1" }), container("b", { [GPU]: "3" })],
    });

    expect(counts(made)).toEqual({ "container-1-request-0": 1, "container-2-request-0": 3 });
    expect(uses(made)).toEqual([
      "a container-1-request-0",
      "b container-2-request-0",
      "init container-1-request-0",
      "init container-2-request-0",
    ]);
  });

  test("requests the greatest extra need of init containers once", () => {
    const made = requestsOf({
      initContainers: [
        container("one", { [GPU]: "2" }),
        container("two", { [GPU]: "4" }),
        container("three", { [GPU]: "3" }),
      ],
      containers: [container("a", { [GPU]: "1" })],
    });

    expect(counts(made)).toEqual({ "container-1-request-0": 3, "container-3-request-0": 1 });
    expect(uses(made)).toEqual([
      "a container-3-request-0",
      "one container-3-request-0",
      "one container-1-request-0",
      "two container-3-request-0",
      "two container-1-request-0",
      "three container-3-request-0",
      "three container-1-request-0",
    ]);
  });

  test("gives sidecars separate devices, which only earlier init containers use", () => {
    const made = requestsOf({
      initContainers: [
        container("first", { [GPU]: "1" }),
        container("side", { [GPU]: "1" }, "Always"),
        container("second", { [GPU]: "1" }),
      ],
      containers: [container("a", {})],
    });

    expect(counts(made)).toEqual({ "container-1-request-0": 1, "container-2-request-0": 1 });
    expect(uses(made)).toEqual([
      "side container-1-request-0",
      "first container-1-request-0",
      "second container-2-request-0",
    ]);
  });
});
