import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { hasGrantedResources, podRequests } from "./pod-requests.ts";

type Requests = Readonly<Record<string, string>>;

function container(requests: Requests, extra: object = {}): object {
  return { name: "c", resources: { requests }, ...extra };
}

function cpuOf(spec: object, status: object = {}): number | undefined {
  return podRequests({ spec, status } as unknown as Pod).get("cpu");
}

describe("what a pod takes of a node", () => {
  test("is the sum of its containers", () => {
    expect(cpuOf({ containers: [container({ cpu: "100m" }), container({ cpu: "0.2" })] })).toBe(300);
  });

  test("is that of an init container when that needs more", () => {
    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers: [container({ cpu: "3" })] })).toBe(
      3000,
    );
  });

  test("counts sidecars beside everything that starts after them", () => {
    const sidecar = container({ cpu: "1" }, { restartPolicy: "Always" });
    const initContainers = [sidecar, container({ cpu: "3" })];

    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers })).toBe(4000);
    expect(cpuOf({ containers: [container({ cpu: "1" })], initContainers: [sidecar] })).toBe(2000);
  });

  test("has the overhead of its runtime on top", () => {
    expect(cpuOf({ containers: [container({ cpu: "1" })], overhead: { cpu: "250m" } })).toBe(1250);
  });

  test("is what the pod as a whole asks for, where it does", () => {
    const spec = { containers: [container({ cpu: "1" })], resources: { requests: { cpu: "2" } } };

    expect(cpuOf(spec)).toBe(2000);
  });

  test("is the larger of wanted and granted while a resize is under way", () => {
    const containerStatuses = [{ name: "c", resources: { requests: { cpu: "2" } } }];

    expect(cpuOf({ containers: [container({ cpu: "1" })] }, { containerStatuses })).toBe(2000);
  });

  test("is the larger of both for the pod as a whole, unless its node will never grant it", () => {
    const spec = { containers: [container({})], resources: { requests: { cpu: "3" } } };
    const status = { resources: { requests: { cpu: "1" } }, allocatedResources: { cpu: "2" } };
    const conditions = [{ type: "PodResizePending", reason: "Infeasible" }];

    expect(cpuOf(spec, status)).toBe(3000);
    expect(cpuOf(spec, { ...status, conditions })).toBe(2000);
  });

  test("depends on the status only when a container was granted something else than it asks for", () => {
    const spec = { containers: [container({ cpu: "1", memory: "1Gi" })] };
    const isGranted = (requests: Requests, allocatedResources?: Requests): boolean => {
      const status = { containerStatuses: [{ name: "c", resources: { requests }, allocatedResources }] };
      return hasGrantedResources({ spec, status } as unknown as Pod);
    };

    expect(isGranted({ memory: "1Gi", cpu: "1" }, { cpu: "1", memory: "1Gi" })).toBe(false);
    expect(isGranted({ cpu: "2", memory: "1Gi" })).toBe(true);
    expect(isGranted({ cpu: "1" })).toBe(true);
    expect(isGranted({ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "2Gi" })).toBe(true);
  });

  test.each(["-5", "1e30", "nonsense"])("stays a number that can be added for %j", (cpu) => {
    const sum = cpuOf({ containers: [container({ cpu })] });

    expect(Number.isSafeInteger(sum)).toBe(true);
    expect(sum).toBeGreaterThanOrEqual(0);
  });
});
