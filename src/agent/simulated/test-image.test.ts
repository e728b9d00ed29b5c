import { describe, expect, test } from "vitest";
import type { Container, Probe } from "../../api/generated/types/core-v1.ts";
import { findTestImageAnswer } from "./test-image.ts";
import { ALWAYS, NEVER } from "./time-span.ts";

describe("a probe of the agnhost image", () => {
  test("fails at a port on which its program does not listen", () => {
    const container = agnhost(["test-webserver"], [{ name: "web", containerPort: 80 }]);

    expect(answer({ httpGet: { path: "/", port: 80 } }, container)).toBe(ALWAYS);
    expect(answer({ httpGet: { path: "/", port: "web" } }, container)).toBe(ALWAYS);
    expect(answer({ httpGet: { path: "/", port: 81 } }, container)).toBe(NEVER);
  });

  test("fails the health check of `liveness` after ten seconds, while its port stays open", () => {
    const container = agnhost(["liveness"]);

    expect(answer({ httpGet: { path: "/healthz", port: 8080 } }, container)?.untilMs).toBe(10_000);
    expect(answer({ httpGet: { path: "/redirect?loc=%2Fhealthz", port: 8080 } }, container)?.untilMs).toBe(
      10_000,
    );
    expect(answer({ httpGet: { path: "/", port: 8080 } }, container)).toBe(ALWAYS);
    expect(answer({ tcpSocket: { port: 8080 } }, container)).toBe(ALWAYS);
  });

  test("checks health by gRPC until the configured end", () => {
    const grpc = { grpc: { port: 5000, service: "" } };

    expect(answer(grpc, agnhost(["grpc-health-checking"]))).toBe(ALWAYS);
    expect(answer({ grpc: { port: 2333, service: "" } }, agnhost(["grpc-health-checking"]))).toBe(NEVER);
    expect(answer(grpc, agnhost(["grpc-health-checking", "--delay-unhealthy-sec=15"]))?.untilMs).toBe(15_000);
  });

  test("has no answer for other images, other programs, configured ports and exec probes", () => {
    const probe = { httpGet: { path: "/", port: 81 } };

    expect(answer(probe, { ...agnhost(["test-webserver"]), image: "nginx" })).toBeUndefined();
    expect(answer(probe, agnhost(["netexec"]))).toBeUndefined();
    expect(answer(probe, agnhost(["test-webserver", "--port=81"]))).toBeUndefined();
    expect(answer({ exec: { command: ["true"] } }, agnhost(["liveness"]))).toBeUndefined();
  });
});

function answer(probe: Probe, container: Container) {
  return findTestImageAnswer(probe, container);
}

function agnhost(args: readonly string[], ports: Container["ports"] = []): Container {
  return { name: "c", image: "registry.k8s.io/e2e-test-images/agnhost:2.56", args, ports } as Container;
}
