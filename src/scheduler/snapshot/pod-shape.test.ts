import { describe, expect, test } from "vitest";
import type { Toleration } from "../../api/generated/types/core-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { apiInteger } from "../../api/values/plain-number.ts";
import { PodShapes } from "./pod-shape.ts";

interface Granted {
  readonly cpu: string;
  readonly startedAt: string;
  readonly isInfeasible?: boolean;
}

/** Running pod of one template. */
function pod(name: string, { cpu, startedAt, isInfeasible = false }: Granted): Pod {
  return incomplete<Pod>({
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
  });
}

describe("the shape of a pod", () => {
  test("is shared by running pods of one template, regardless of other status fields", () => {
    const shapes = new PodShapes();

    const one = shapes.shapeOf(pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" }));

    expect(shapes.shapeOf(pod("b", { cpu: "1", startedAt: "2026-01-02T00:00:00Z" }))).toBe(one);
  });

  test("is found even with a number beyond 2^53", () => {
    const plain = pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" });
    const tolerations: Toleration[] = [{ operator: "Exists", tolerationSeconds: apiInteger(2n ** 63n - 1n) }];
    const patient = { ...plain, spec: { ...plain.spec, tolerations } };

    expect(new PodShapes().shapeOf(patient).requests).toEqual(new PodShapes().shapeOf(plain).requests);
  });

  test("is not cached if its text is long", () => {
    const shapes = new PodShapes();
    const plain = pod("a", { cpu: "1", startedAt: "2026-01-01T00:00:00Z" });
    const long = { ...plain, spec: { ...plain.spec, nodeSelector: { a: "x".repeat(30_000) } } };

    expect(shapes.shapeOf(long)).not.toBe(shapes.shapeOf(long));
    expect(shapes.shapeOf(long).requests).toEqual(shapes.shapeOf(plain).requests);
  });

  test("differs if granted resources exceed the requests, or a resize is infeasible", () => {
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
