import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { ingressClass } from "./ingress-class.ts";
import { ingress } from "./ingress.ts";
import { ipAddress } from "./ip-address.ts";
import { networkPolicy } from "./network-policy.ts";
import { serviceCidr } from "./service-cidr.ts";

describe("a NetworkPolicy", () => {
  const probe = new KindProbe(networkPolicy);

  test("applies to ingress, and to egress when it has egress rules", () => {
    expect(probe.created({})).toMatchObject({ spec: { policyTypes: ["Ingress"] } });
    expect(probe.created({ spec: { egress: [{ ports: [{ port: 53 }] }] } })).toMatchObject({
      spec: { policyTypes: ["Ingress", "Egress"], egress: [{ ports: [{ port: 53, protocol: "TCP" }] }] },
    });
  });

  test.each([
    [{ ingress: [{ from: [{ podSelector: {}, namespaceSelector: {} }] }] }, []],
    [{ ingress: [{ from: [{}] }] }, ["spec.ingress[0].from[0]: Required value: must specify a peer"]],
    [
      { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] },
      ["spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"],
    ],
    [
      { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/24"] } }] }] },
      [
        'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/24": must be a strict subset of `cidr`',
      ],
    ],
    [{ egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] }] }, []],
    [{ ingress: [{ from: [{ ipBlock: {} }] }] }, ["spec.ingress[0].from[0].ipBlock.cidr: Required value"]],
    [
      { ingress: [{ ports: [{ port: 80, endPort: 79 }] }] },
      ["spec.ingress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`"],
    ],
    [
      { ingress: [{ ports: [{ port: "http", endPort: 80 }] }] },
      ["spec.ingress[0].ports[0].endPort: Required value: may not be specified when `port` is non-numeric"],
    ],
    [
      { ingress: [{ ports: [{ endPort: 80 }] }] },
      ["spec.ingress[0].ports[0].port: Required value: must be specified when `endPort` is specified"],
    ],
    [
      { policyTypes: ["Both"] },
      ['spec.policyTypes[0]: Unsupported value: "Both": supported values: "Ingress", "Egress"'],
    ],
  ])("has valid peers and ports: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("shows its selector", () => {
    expect(probe.cells({ spec: { podSelector: { matchLabels: { a: "b" } } } })).toEqual([
      "it",
      "a=b",
      "2m5s",
    ]);
    expect(probe.cells({})).toEqual(["it", "<none>", "2m5s"]);
  });
});

describe("an Ingress", () => {
  const probe = new KindProbe(ingress);
  const service = { name: "web", port: { number: 80 } };
  const rule = (path: object, host?: string): object => ({
    rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend: { service }, ...path }] } }],
  });

  test.each([
    [rule({}), []],
    [{}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
    [
      { defaultBackend: {} },
      ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
    ],
    [
      { defaultBackend: { service: { name: "", port: {} } } },
      [
        "spec.defaultBackend.service.name: Required value",
        "spec.defaultBackend: Required value: port name or number is required",
      ],
    ],
    [
      { defaultBackend: { service: { name: "a", port: { number: 1, name: "b" } } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
    ],
    [{ defaultBackend: { resource: { kind: "Bucket", name: "b" } } }, []],
    [
      rule({ pathType: undefined }),
      ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
    ],
    [
      rule({ pathType: "Regex" }),
      [
        'spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"',
      ],
    ],
    [rule({ path: "a" }), ['spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path']],
    [
      rule({ path: "/a//b" }),
      [`spec.rules[0].http.paths[0].path: Invalid value: "/a//b": must not contain '//'`],
    ],
    [
      rule({ path: "/.." }),
      [`spec.rules[0].http.paths[0].path: Invalid value: "/..": cannot end with '/..'`],
    ],
    [rule({ path: "", pathType: "ImplementationSpecific" }), []],
    [rule({}, "*.example.com"), []],
    [
      rule({}, "1.2.3.4"),
      ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
    ],
  ])("has valid rules and backends: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("has one class, in the annotation or in the field", () => {
    const metadata = { annotations: { "kubernetes.io/ingress.class": "a" } };
    const spec = { ...rule({}), ingressClassName: "b" };

    expect(probe.problems({ metadata, spec })).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
    ]);
    expect(probe.warnings({ metadata })).toEqual([
      `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ]);
  });

  test("shows its hosts, address and ports", () => {
    const spec = { ingressClassName: "c", rules: ["a", "b", "c", "d"].map((host) => ({ host })), tls: [{}] };
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } };

    expect(probe.cells({ spec, status })).toEqual([
      "it",
      "c",
      "a,b,c + 1 more...",
      "1.2.3.4",
      "80, 443",
      "2m5s",
    ]);
    expect(probe.cells({})).toEqual(["it", "<none>", "*", "", "80", "2m5s"]);
  });

  test.each<[string, readonly string[], string]>([
    ["only some", ["a", "", "b"], "a,b"],
    ["three and one without", ["a", "b", "c", ""], "a,b,c + 1 more..."],
    ["one without among many", ["a", "", "b", "c", "d"], "a,b,c + 2 more..."],
  ])("counts rules beyond three hosts: %s", (_, hosts, text) => {
    const rules = hosts.map((host) => (host === "" ? {} : { host }));

    expect(probe.cells({ spec: { rules } })[2]).toBe(text);
  });

  test("shows no class when only the annotation names one", () => {
    const metadata = { annotations: { "kubernetes.io/ingress.class": "a" } };

    expect(probe.cells({ metadata })[1]).toBe("<none>");
  });
});

describe("an IngressClass", () => {
  const probe = new KindProbe(ingressClass);

  test.each([
    [{ controller: "a.b/c" }, []],
    [{}, ["spec.controller: Required value"]],
    [
      { controller: "c" },
      ['spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      { controller: "a/b", parameters: { kind: "P", name: "p", namespace: "n" } },
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
    [
      { controller: "a/b", parameters: { kind: "P", name: "", scope: "Namespace" } },
      [
        "spec.parameters.name: Required value",
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
      ],
    ],
  ])("has a valid controller and parameters: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("keeps its controller and shows it", () => {
    const spec = { controller: "a/b", parameters: { apiGroup: "g", kind: "P", name: "p" } };

    expect(probe.updateProblems({ spec: { controller: "a/c" } }, { spec })).toEqual([
      'spec.controller: Invalid value: "a/c": field is immutable',
    ]);
    expect(probe.cells({ spec })).toEqual(["it", "a/b", "P.g/p", "2m5s"]);
  });

  test("shows that it is the default class", () => {
    const annotations = { "ingressclass.kubernetes.io/is-default-class": "true" };

    expect(probe.cells({ metadata: { annotations }, spec: { controller: "a/b" } })[0]).toBe("it (default)");
  });
});

describe("an IPAddress", () => {
  const probe = new KindProbe(ipAddress);
  const parentRef = { resource: "services", namespace: "a", name: "b" };

  test("has an address in canonical form as name", () => {
    expect(probe.nameProblems("10.0.0.1")).toEqual([]);
    expect(probe.nameProblems("FD00::1")).toEqual(['must be in canonical form ("fd00::1")']);
  });

  test("has a parent that cannot change", () => {
    expect(probe.problems({ spec: { parentRef } })).toEqual([]);
    expect(probe.problems({})).toEqual(["spec.parentRef: Required value"]);
    expect(probe.problems({ spec: { parentRef: {} } })).toEqual([
      "spec.parentRef.resource: Required value",
      "spec.parentRef.name: Required value",
    ]);
    expect(
      probe.updateProblems({ spec: { parentRef: { ...parentRef, name: "c" } } }, { spec: { parentRef } }),
    ).toEqual([
      'spec.parentRef: Invalid value: {"name":"c","namespace":"a","resource":"services"}: field is immutable',
    ]);
  });

  test("shows its parent", () => {
    expect(probe.cells({ spec: { parentRef } })).toEqual(["it", "services/a/b"]);
  });
});

describe("a ServiceCIDR", () => {
  const probe = new KindProbe(serviceCidr);

  test.each([
    [["10.96.0.0/12"], []],
    [["10.96.0.0/12", "fd00::/112"], []],
    [[], ["spec.cidrs: Required value: at least one CIDR required"]],
    [
      ["10.96.0.0/12", "10.0.0.0/16"],
      [
        'spec.cidrs: Invalid value: ["10.96.0.0/12","10.0.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      ["10.96.0.1/12"],
      ['spec.cidrs[0]: Invalid value: "10.96.0.1/12": must not have bits set beyond the prefix length'],
    ],
  ])("has one block of each family: %#", (cidrs, problems) => {
    expect(probe.problems({ spec: { cidrs } })).toEqual(problems);
  });

  test.each([
    [["10.96.0.0/12", "fd00::/112"], ["10.96.0.0/12"], []],
    [["10.0.0.0/12"], ["10.96.0.0/12"], ['spec.cidrs[0]: Invalid value: "10.0.0.0/12": field is immutable']],
    [
      ["10.96.0.0/12"],
      ["10.96.0.0/12", "fd00::/112"],
      ['spec.cidrs: Invalid value: ["10.96.0.0/12"]: field is immutable'],
    ],
  ])("keeps its blocks: %#", (next, previous, problems) => {
    expect(probe.updateProblems({ spec: { cidrs: next } }, { spec: { cidrs: previous } })).toEqual(problems);
  });

  test("shows its blocks", () => {
    expect(probe.cells({ spec: { cidrs: ["10.96.0.0/12", "fd00::/112"] } })).toEqual([
      "it",
      "10.96.0.0/12,fd00::/112",
      "2m5s",
    ]);
  });
});
