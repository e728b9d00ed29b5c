import { describe, expect, test } from "vitest";
import type { ConfigMap, Container, Pod, Secret, Service } from "../../api/generated/types/core-v1.ts";
import { hostsText } from "./hosts-file.ts";
import { expandedWords, programEnvironment, type EnvironmentFacts } from "./program-environment.ts";
import { serviceVariables } from "./service-variables.ts";

describe("the environment of a program", () => {
  test("takes later variables over earlier ones, and its own over those of Services", () => {
    const env = [
      { name: "A", value: "own" },
      { name: "WEB_SERVICE_HOST", value: "mine" },
      { name: "URL", value: "http://$(WEB_SERVICE_HOST):$(WEB_SERVICE_PORT)/$(A)/$(MISSING)/$$(A)" },
    ];
    const envFrom = [{ configMapRef: { name: "c" } }, { prefix: "P_", secretRef: { name: "s" } }];
    const environment = programEnvironment(facts({ env, envFrom }));

    expect(Object.fromEntries(environment)).toMatchObject({
      A: "own",
      P_TOKEN: "secret",
      WEB_SERVICE_PORT: "80",
      URL: "http://mine:80/own/$(MISSING)/$(A)",
    });
    expect(expandedWords(["echo", "$(A)"], environment)).toEqual(["echo", "own"]);
  });

  test("has fields, and limits that default to the node's allocatable amounts", () => {
    const env = [
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "APP", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      { name: "MEMORY", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } } },
    ];

    expect(Object.fromEntries(programEnvironment(facts({ env })))).toMatchObject({
      ...{ IP: "10.0.0.2", APP: "web", CPU: "3", MEMORY: "64" },
    });
  });

  test("leaves out optional values that do not exist, and fails for others", () => {
    const key = { name: "c", key: "absent" };
    const optional = [{ name: "X", valueFrom: { configMapKeyRef: { ...key, optional: true } } }];
    const needed = [{ name: "X", valueFrom: { configMapKeyRef: key } }];
    const gone = [{ name: "X", valueFrom: { secretKeyRef: { name: "gone", key: "x" } } }];

    expect(programEnvironment(facts({ env: optional })).has("X")).toBe(false);
    expect(() => programEnvironment(facts({ env: needed }))).toThrow(
      "couldn't find key absent in ConfigMap default/c",
    );
    expect(() => programEnvironment(facts({ env: gone }))).toThrow('secret "gone" not found');
    expect(() => programEnvironment(facts({ envFrom: [{ configMapRef: { name: "gone" } }] }))).toThrow(
      'configmap "gone" not found',
    );
  });
});

describe("the variables of Services", () => {
  test("describe each port, and leave out headless Services", () => {
    const ports = [
      { port: 80, name: "http" },
      { port: 53, protocol: "UDP" as const },
    ];
    const services = [service("my-web", "10.96.0.7", ports), service("db", "None", ports)];

    expect(Object.fromEntries(serviceVariables(services))).toEqual({
      MY_WEB_SERVICE_HOST: "10.96.0.7",
      MY_WEB_SERVICE_PORT: "80",
      MY_WEB_SERVICE_PORT_HTTP: "80",
      MY_WEB_PORT: "tcp://10.96.0.7:80",
      MY_WEB_PORT_80_TCP: "tcp://10.96.0.7:80",
      MY_WEB_PORT_80_TCP_PROTO: "tcp",
      MY_WEB_PORT_80_TCP_PORT: "80",
      MY_WEB_PORT_80_TCP_ADDR: "10.96.0.7",
      MY_WEB_PORT_53_UDP: "udp://10.96.0.7:53",
      MY_WEB_PORT_53_UDP_PROTO: "udp",
      MY_WEB_PORT_53_UDP_PORT: "53",
      MY_WEB_PORT_53_UDP_ADDR: "10.96.0.7",
    });
  });
});

describe("the hosts file of a pod", () => {
  test("has the pod's name and its aliases", () => {
    const hostAliases = [{ ip: "192.0.2.1", hostnames: ["a", "b"] }];
    const text = hostsText({
      pod: podOf({ containers: [], hostname: "web-0", subdomain: "sub", hostAliases }),
      ...{ addresses: ["10.0.0.2"], machine: "" },
    });

    expect(text).toContain("10.0.0.2\tweb-0.sub.default.svc.cluster.local\tweb-0\n");
    expect(text).toContain("# Entries added by HostAliases.\n192.0.2.1\ta\tb\n");
  });
});

function facts(own: Partial<Container>): EnvironmentFacts {
  const container: Container = { name: "web", resources: { limits: { memory: "64Mi" } }, ...own };
  const metadata = { name: "c", namespace: "default", uid: "2", resourceVersion: "2", creationTimestamp: "" };
  const configMap: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { A: "c", B: "b" } };
  const secret: Secret = { apiVersion: "v1", kind: "Secret", metadata, data: { TOKEN: "c2VjcmV0" } };
  return {
    pod: podOf({ containers: [container] }),
    container,
    addresses: { hostAddresses: ["192.0.2.7"], addresses: ["10.0.0.2"] },
    allocatable: { cpu: "2500m", memory: "1Gi" },
    services: serviceVariables([service("web", "10.96.0.9", [{ port: 80 }])]),
    configMaps: new Map([["c", configMap]]),
    secrets: new Map([["s", secret]]),
  };
}

function service(name: string, clusterIP: string, ports: NonNullable<Service["spec"]["ports"]>): Service {
  const metadata = { name, namespace: "default", uid: name, resourceVersion: "3", creationTimestamp: "" };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP, ports },
    status: { loadBalancer: {} },
  };
}

function podOf(spec: Pod["spec"]): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: "web", namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: "" },
      labels: { app: "web" },
    },
    spec,
    status: {},
  };
}
