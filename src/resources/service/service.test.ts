import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { service } from "./service.ts";

const probe = new KindProbe(service);
const web = { ports: [{ port: 80 }] };

describe("a Service", () => {
  test("gets a type, an affinity, policies and complete ports by default", () => {
    expect(probe.created({ spec: web })).toMatchObject({
      spec: {
        type: "ClusterIP",
        sessionAffinity: "None",
        internalTrafficPolicy: "Cluster",
        ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      },
    });
    expect(probe.created({ spec: web })).not.toHaveProperty("spec.externalTrafficPolicy");
  });

  test.each([
    [{ ...web, type: "NodePort" }, { externalTrafficPolicy: "Cluster" }],
    [{ ...web, externalIPs: ["1.2.3.4"] }, { externalTrafficPolicy: "Cluster" }],
    [
      { ...web, type: "LoadBalancer" },
      { externalTrafficPolicy: "Cluster", allocateLoadBalancerNodePorts: true },
    ],
    [
      { ...web, sessionAffinity: "ClientIP" },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } },
    ],
    [{ ...web, clusterIP: "10.0.0.1" }, { clusterIPs: ["10.0.0.1"] }],
  ])("gets the fields of its type: %#", (spec, expected) => {
    expect(probe.created({ spec })).toMatchObject({ spec: expected });
  });

  test("may have a name that begins with a digit", () => {
    expect(probe.nameProblems("1a")).toEqual([]);
    expect(probe.nameProblems("a.b")).toEqual(["must not contain dots"]);
  });

  test.each([
    [{}, ["spec.ports: Required value"]],
    [{ clusterIP: "None" }, []],
    [
      { ...web, type: "Odd" },
      [
        'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      { ...web, type: "NodePort", clusterIP: "None" },
      [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
    ],
    [{ type: "ExternalName" }, ["spec.externalName: Required value"]],
    [{ type: "ExternalName", externalName: "example.com." }, []],
    [
      { type: "ExternalName", externalName: "example.com", clusterIP: "10.0.0.1" },
      ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"],
    ],
    [
      { ...web, externalIPs: ["127.0.0.1"] },
      [
        'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      { ...web, selector: { "a b": "c" } },
      [expect.stringMatching(/^spec.selector: Invalid value: "a b": name part /)],
    ],
    [
      { ...web, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      [
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400",
      ],
    ],
    [
      { ...web, loadBalancerClass: "a" },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      { ...web, loadBalancerSourceRanges: ["10.0.0.0/8"] },
      ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [{ ...web, type: "LoadBalancer", loadBalancerSourceRanges: [" 10.0.0.0/8 "] }, []],
    [{ ...web, type: "LoadBalancer", externalTrafficPolicy: "Local" }, []],
    [
      { ...web, healthCheckNodePort: 30000 },
      [
        "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [
      { ...web, externalTrafficPolicy: "Local" },
      [
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      ],
    ],
    [
      { ...web, internalTrafficPolicy: "Near" },
      ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
    ],
    [
      { ...web, trafficDistribution: "Far" },
      [
        'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
      ],
    ],
  ])("follows the rules of its type: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test.each([
    [
      [{ port: 0, targetPort: 1 }],
      ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ],
    [[{ port: 80, targetPort: "http" }], []],
    [
      [{ port: 80, targetPort: "h_" }],
      [
        'spec.ports[0].targetPort: Invalid value: "h_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [[{ port: 80 }, { name: "b", port: 81 }], ["spec.ports[0].name: Required value"]],
    [
      [
        { name: "a", port: 80 },
        { name: "a", port: 81 },
      ],
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      [
        { name: "a", port: 80 },
        { name: "b", port: 80, protocol: "UDP" },
      ],
      [],
    ],
    [
      [{ port: 80, nodePort: 30000 }],
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      [{ port: 80, protocol: "ICMP" }],
      ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
  ])("has distinct ports: %#", (ports, problems) => {
    expect(probe.problems({ spec: { ports } })).toEqual(problems);
  });

  test.each([
    [
      { clusterIPs: ["10.0.0.1"] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
    ],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
    ],
    [
      { clusterIP: "x" },
      [
        'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [{ clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] }, []],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.2"] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      { clusterIP: "None", clusterIPs: ["None", "10.0.0.2"] },
      [`spec.clusterIPs: Invalid value: ["None","10.0.0.2"]: 'None' must be the first and only value`],
    ],
    [
      { clusterIP: "10.0.0.1", ipFamilies: ["IPv6"] },
      [
        'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [{ ipFamilies: ["IPv4", "IPv4"] }, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']],
    [
      { ipFamilyPolicy: "Dual" },
      [
        'spec.ipFamilyPolicy: Unsupported value: "Dual": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      ],
    ],
  ])("has consistent addresses: %#", (spec, problems) => {
    expect(probe.problems({ spec: { ...web, ...spec } })).toEqual(problems);
  });
});

describe("an update of a Service", () => {
  const single = { ...web, clusterIP: "10.0.0.1", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
  const dual = {
    ...web,
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1", "fd00::1"],
    ipFamilies: ["IPv4", "IPv6"],
    ipFamilyPolicy: "PreferDualStack",
  };

  test("that omits allocated values keeps them", () => {
    const previous = { type: "NodePort", clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30080 }] };
    const next = probe.updated({ spec: { type: "NodePort", ports: [{ port: 81 }] } }, { spec: previous });

    expect(next).toMatchObject({
      spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ports: [{ port: 81, nodePort: 30080 }] },
    });
  });

  test("to ExternalName removes the address", () => {
    const next = probe.updated(
      { spec: { ...single, type: "ExternalName", externalName: "a.b" } },
      { spec: single },
    );

    expect(next).not.toHaveProperty("spec.clusterIP");
    expect(next).not.toHaveProperty("spec.clusterIPs");
    expect(next).not.toHaveProperty("spec.ipFamilies");
  });

  test("to ClusterIP removes node ports and load balancer fields", () => {
    const previous = {
      type: "LoadBalancer",
      clusterIP: "10.0.0.1",
      loadBalancerClass: "a.b/c",
      ports: [{ port: 80, nodePort: 30080 }],
    };
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] }, conditions: [] };
    const next = probe.updated(
      { spec: { ...previous, type: "ClusterIP" }, status },
      { spec: previous, status },
    );

    expect(next["status"]).toEqual({ loadBalancer: {} });
    expect(next).not.toHaveProperty("spec.ports[0].nodePort");
    expect(next).not.toHaveProperty("spec.loadBalancerClass");
    expect(next).not.toHaveProperty("spec.externalTrafficPolicy");
  });

  test("to a single family keeps the first address and family", () => {
    expect(probe.updated({ spec: { ...dual, ipFamilyPolicy: "SingleStack" } }, { spec: dual })).toMatchObject(
      {
        spec: { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
      },
    );
  });

  test.each([
    [
      { ...single, clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.1"] },
      single,
      ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
    ],
    [
      { ...single, ipFamilies: ["IPv6"] },
      single,
      ['spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set'],
    ],
    [dual, single, []],
    [
      { ...dual, clusterIPs: ["10.0.0.1"] },
      dual,
      [
        "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary clusterIP",
      ],
    ],
    [{ type: "ExternalName", externalName: "a.b" }, single, []],
    [
      { ...web, type: "LoadBalancer", loadBalancerClass: "a.b/d" },
      { ...web, type: "LoadBalancer", loadBalancerClass: "a.b/c" },
      ['spec.loadBalancerClass: Invalid value: "a.b/d": may not change once set'],
    ],
  ])("keeps its first address and class: %#", (next, previous, problems) => {
    expect(probe.updateProblems({ spec: next }, { spec: previous })).toEqual(problems);
  });
});

describe("the status of a Service", () => {
  test.each([
    [{ type: "LoadBalancer" }, { ip: "1.2.3.4" }, []],
    [
      {},
      { ip: "1.2.3.4" },
      ['status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "LoadBalancer"'],
    ],
    [
      { type: "LoadBalancer" },
      { hostname: "1.2.3.4" },
      [
        'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      ],
    ],
    [
      { type: "LoadBalancer" },
      { hostname: "a.b", ipMode: "VIP" },
      ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"],
    ],
  ])("has valid load balancer addresses: %#", (spec, ingress, problems) => {
    const manifest = { spec: { ...web, ...spec }, status: { loadBalancer: { ingress: [ingress] } } };

    expect(probe.statusProblems(manifest)).toEqual(problems);
  });
});

describe("the table row of a Service", () => {
  test.each([
    [
      { clusterIP: "10.0.0.1", ...web },
      {},
      ["it", "ClusterIP", "10.0.0.1", "<none>", "80/TCP", "2m5s", "<none>"],
    ],
    [
      {
        type: "NodePort",
        clusterIP: "10.0.0.1",
        ports: [
          { port: 80, nodePort: 30080 },
          { port: 53, protocol: "UDP" },
        ],
        selector: { b: "2", a: "1" },
      },
      {},
      ["it", "NodePort", "10.0.0.1", "<none>", "80:30080/TCP,53/UDP", "2m5s", "a=1,b=2"],
    ],
    [{ type: "LoadBalancer" }, {}, ["it", "LoadBalancer", "<none>", "<pending>", "<none>", "2m5s", "<none>"]],
    [
      { type: "LoadBalancer", externalIPs: ["9.9.9.9"] },
      { loadBalancer: { ingress: [{ hostname: "b.example" }, { ip: "1.2.3.4" }] } },
      ["it", "LoadBalancer", "<none>", "1.2.3.4,b.example,9.9.9.9", "<none>", "2m5s", "<none>"],
    ],
    [
      { type: "ExternalName", externalName: "a.b" },
      {},
      ["it", "ExternalName", "<none>", "a.b", "<none>", "2m5s", "<none>"],
    ],
  ])("shows its addresses: %#", (spec, status, cells) => {
    const synced = "clusterIP" in spec ? { ...spec, clusterIPs: [spec.clusterIP] } : spec;

    expect(probe.cells({ spec: synced, status })).toEqual(cells);
  });

  test("has field selectors for address and type", () => {
    expect(probe.fields({ spec: { clusterIP: "None" } })).toEqual({
      "spec.clusterIP": "None",
      "spec.type": "ClusterIP",
    });
  });

  test("warns about a deprecated traffic distribution", () => {
    expect(probe.warnings({ spec: { trafficDistribution: "PreferClose", ports: [{ port: 80 }] } })).toEqual([
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ]);
  });

  test("warns about external IPs, which are deprecated", () => {
    expect(probe.warnings({ spec: { externalIPs: ["9.9.9.9"] } })).toEqual([
      "spec.externalIPs is deprecated",
    ]);
  });

  test("warns about fields that it ignores", () => {
    const spec = {
      clusterIP: "None",
      sessionAffinity: "ClientIP",
      externalName: "a.b",
      externalIPs: ["FD00::1"],
    };

    expect(probe.warnings({ spec })).toEqual([
      "spec.externalIPs is ignored for headless services",
      "spec.SessionAffinity is ignored for headless services",
      'spec.externalName is ignored when spec.type is not "ExternalName"',
      'spec.externalIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    ]);
  });
});
