import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { hasGrantedResources, podRequests } from "./pod-requests.ts";

type Requests = Readonly<Record<string, string>>;

function container(requests: Requests, extra: object = {}): object {
  return { name: "c", resources: { requests }, ...extra };
}

function cpuOf(spec: object, status: object = {}): number | undefined {
  return podRequests({ spec, status } as Pod).get("cpu");
}

describe("the requests of a pod", () => {
  test("are the sum of its containers", () => {
    expect(cpuOf({ containers: [container({ cpu: "100m" }), container({ cpu: "0.2" })] })).toBe(300);
  });

  test("are those of an init container that needs more", () => {
    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers: [container({ cpu: "3" })] })).toBe(
      3000,
    );
  });

  test("add sidecars to every container that starts after them", () => {
    const sidecar = container({ cpu: "1" }, { restartPolicy: "Always" });
    const initContainers = [sidecar, container({ cpu: "3" })];

    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers })).toBe(4000);
    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers: [sidecar] })).toBe(2000);
  });

  test("include the overhead of its runtime", () => {
    expect(cpuOf({ containers: [container({ cpu: "1" })], overhead: { cpu: "250m" } })).toBe(1250);
  });

  test("are the pod-level requests where these are set", () => {
    const spec = { containers: [container({ cpu: "1" })], resources: { requests: { cpu: "2" } } };

    expect(cpuOf(spec)).toBe(2000);
  });

  test("are the larger of desired and granted resources during a resize", () => {
    const containerStatuses = [{ name: "c", resources: { requests: { cpu: "2" } } }];

    expect(cpuOf({ containers: [container({ cpu: "1" })] }, { containerStatuses })).toBe(2000);
  });

  test("are the larger of both for pod-level requests, unless the resize is infeasible", () => {
    const spec = { containers: [container({})], resources: { requests: { cpu: "3" } } };
    const status = { resources: { requests: { cpu: "1" } }, allocatedResources: { cpu: "2" } };
    const conditions = [{ type: "PodResizePending", reason: "Infeasible" }];

    expect(cpuOf(spec, status)).toBe(3000);
    expect(cpuOf(spec, { ...status, conditions })).toBe(2000);
  });

  test("depend on the status only when a container's granted and requested resources differ", () => {
    const spec = { containers: [container({ cpu: "1", memory: "1Gi" })] };
    const isGranted = (requests: Requests, allocatedResources?: Requests): boolean => {
      const status = { containerStatuses: [{ name: "c", resources: { requests }, allocatedResources }] };
      return hasGrantedResources(incomplete<Pod>({ spec, status }));
    };

    expect(isGranted({ memory: "1Gi", cpu: "1" }, { cpu: "1", memory: "1Gi" })).toBe(false);
    expect(isGranted({ cpu: "2", memory: "1Gi" })).toBe(true);
    expect(isGranted({ cpu: "1" })).toBe(true);
    expect(isGranted({ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "2Gi" })).toBe(true);
  });

  test.each(["-5", "1e30", "nonsense"])("stay finite for %j", (cpu) => {
    const sum = cpuOf({ containers: [container({ cpu })] });

    expect(Number.isSafeInteger(sum)).toBe(true);
    expect(sum).toBeGreaterThanOrEqual(0);
  });
});
