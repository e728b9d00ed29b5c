import { describe, expect, test } from "vitest";
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { parsePort } from "./forwarded-ports.ts";

const POD = incomplete<Pod>({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: [{ name: "main", image: "web", ports: [{ name: "http", containerPort: 8080 }] }] },
});
const SERVICE = incomplete<Service>({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "front" },
  spec: {
    ports: [
      { name: "web", port: 80, targetPort: "http" },
      { name: "same", port: 81 },
      { name: "number", port: 82, targetPort: 9000 },
      { name: "dns", port: 53, protocol: "UDP" },
    ],
  },
});

describe("a port of a pod", () => {
  test.each([
    ["8080", { local: 8080, remote: 8080 }],
    ["5000:8080", { local: 5000, remote: 8080 }],
    [":8080", { local: 0, remote: 8080 }],
    ["0:8080", { local: 0, remote: 8080 }],
    ["http", { local: 8080, remote: 8080 }],
    ["5000:http", { local: 5000, remote: 8080 }],
  ])("%s", (text, port) => {
    expect(parsePort(text, POD)).toEqual(port);
  });

  test.each(["", ":", "1:2:3", "x:80", "65536", "-1:80", "1.5", "nope", "80:"])("%j is refused", (text) => {
    expect(() => parsePort(text, POD)).toThrow(/port/);
  });
});

describe("a port of a Service", () => {
  test.each([
    ["80", { local: 80, remote: 8080 }],
    ["web", { local: 80, remote: 8080 }],
    [":81", { local: 0, remote: 81 }],
    ["5000:number", { local: 5000, remote: 9000 }],
  ])("%s leads to the port of the pod", (text, port) => {
    expect(parsePort(text, POD, SERVICE)).toEqual(port);
  });

  test("is the pod's own number without a cluster IP", () => {
    const headless = incomplete<Service>({ ...SERVICE, spec: { ...SERVICE.spec, clusterIP: "None" } });

    expect(parsePort("82", POD, headless)).toEqual({ local: 82, remote: 82 });
  });

  test.each(["8080", "nope", "53"])("%s is refused", (text) => {
    expect(() => parsePort(text, POD, SERVICE)).toThrow(/[Ss]ervice|UDP/);
  });
});
