import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { PodShapes } from "./pod-shape.ts";

interface Granted {
  readonly cpu: string;
  readonly startedAt: string;
  readonly isInfeasible?: boolean;
}

/** A running pod of one template. */
function pod(name: string, { cpu, startedAt, isInfeasible = false }: Granted): Pod {
  return {
    metadata: { name, namespace: "default", uid: name },
    spec: { containers: [{ name: "web", image: "nginx:1.25", resources: { requests: { cpu: "1" } } }] },
    status: {
      conditions: isInfeasible ? [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] : [],
      containerStatuses: [
        {
          name: "web",
          containerID: `simulated://${name}`,
          allocatedResources: { cpu },
          state: { running: { startedAt } },
        },
      ],
    },
  } as unknown as Pod;
}

describe("the shape of a pod", () => {
  test("is shared by pods of one template that run, whatever else their status says", () => {
    const shapes = new PodShapes();

    const one = shapes.shapeOf(pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" }));

    expect(shapes.shapeOf(pod("b", { cpu: "1", startedAt: "2026-01-02T00:00:00Z" }))).toBe(one);
  });

  test("is found also where a number is beyond 2^53", () => {
    const plain = pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" });
    const tolerations = [{ operator: "Exists", tolerationSeconds: 2n ** 63n - 1n }];
    const patient = { ...plain, spec: { ...plain.spec, tolerations } } as unknown as Pod;

    expect(new PodShapes().shapeOf(patient).requests).toEqual(new PodShapes().shapeOf(plain).requests);
  });

  test("is not kept when its text is long", () => {
    const shapes = new PodShapes();
    const plain = pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" });
    const long = { ...plain, spec: { ...plain.spec, nodeSelector: { a: "x".repeat(30_000) } } };

    expect(shapes.shapeOf(long)).not.toBe(shapes.shapeOf(long));
    expect(shapes.shapeOf(long).requests).toEqual(shapes.shapeOf(plain).requests);
  });

  test("is another one where more is granted than asked for, or never will be", () => {
    const shapes = new PodShapes();
    const startedAt = "2026-01-01T00:00:00Z";
    const cores = (granted: Omit<Granted, "startedAt">): number =>
      shapes.shapeOf(pod("a", { ...granted, startedAt })).requests.milliCpu;

    expect(cores({ cpu: "1" })).toBe(1000);
    expect(cores({ cpu: "2" })).toBe(2000);
    expect(cores({ cpu: "500m" })).toBe(1000);
    expect(cores({ cpu: "500m", isInfeasible: true })).toBe(500);
  });
});
