import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import type { ApiObject, KindRules, RuleContext } from "../rules/kind-rules.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";

const onEndpoints = new KindProbe(endpoints);
const onSlice = new KindProbe(endpointSlice);

describe("Endpoints", () => {
  test("use TCP by default", () => {
    expect(
      onEndpoints.created({ subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] }),
    ).toMatchObject({
      subsets: [{ ports: [{ port: 80, protocol: "TCP" }] }],
    });
  });

  test("are stored packed, regardless of the form that the client writes", () => {
    const [a, b] = [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }];
    const subsets = [
      { addresses: [b], ports: [{ name: "x", port: 80 }] },
      { addresses: [a], ports: [{ name: "x", port: 80 }] },
      { notReadyAddresses: [a], ports: [{ name: "x", port: 80 }] },
      { addresses: [b], notReadyAddresses: [a], ports: [{ name: "y", port: 81 }] },
    ];

    expect(onEndpoints.created({ subsets })).toMatchObject({
      subsets: [{ addresses: [b], notReadyAddresses: [a], ports: [{ name: "x" }, { name: "y" }] }],
    });
  });

  test.each([
    [{}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
    [
      { addresses: [{ ip: "127.0.0.1" }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      { addresses: [{ ip: "0.0.0.0" }] },
      ['subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)'],
    ],
    [
      { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }, { name: "b", port: 81 }] },
      ["subsets[0].ports[0].name: Required value"],
    ],
    [
      { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 0 }] },
      ["subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ],
    [{ addresses: [{ ip: "10.0.0.1", hostname: "a", nodeName: "n.1" }] }, []],
  ])("have valid addresses and ports: %#", (subset, problems) => {
    expect(onEndpoints.problems({ subsets: [subset] })).toEqual(problems);
  });

  test.each([
    [[], "<none>"],
    [[{ addresses: [{ ip: "10.0.0.1" }] }], "10.0.0.1"],
    [[{ addresses: [{ ip: "fd00::1" }], ports: [{ port: 80 }] }], "[fd00::1]:80"],
    [
      [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }, { port: 81 }] }],
      "10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 1 more...",
    ],
  ])("show the first three addresses: %#", (subsets, text) => {
    expect(onEndpoints.cells({ subsets })).toEqual(["it", text, "2m5s"]);
  });
});

describe("an EndpointSlice", () => {
  const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{ port: 80 }] };

  test("gets a name and a protocol for its ports by default", () => {
    expect(onSlice.created(slice)).toMatchObject({ ports: [{ name: "", port: 80, protocol: "TCP" }] });
  });

  test.each([
    [{}, []],
    [{ addressType: "" }, ["addressType: Required value"]],
    [
      { addressType: "IPv5" },
      ['addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    [
      { addressType: "IPv6" },
      ['endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be a valid IPv6 address'],
    ],
    [{ endpoints: [{}] }, ["endpoints[0].addresses: Required value: must contain at least 1 address"]],
    [
      { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ["10.0.0.1"] })) },
      ["endpoints: Too many: 1001: must have at most 1000 items"],
    ],
    [
      { addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
      ],
    ],
    [{ addressType: "FQDN", endpoints: [{ addresses: ["a.b.c"] }] }, []],
    [{ ports: [{ port: 80 }, { port: 81 }] }, ['ports[1].name: Duplicate value: ""']],
    [
      { endpoints: [{ addresses: ["10.0.0.1"], hints: { forZones: [{ name: "a" }, { name: "a" }] } }] },
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
    ],
  ])("has valid endpoints and ports: %#", (change, problems) => {
    expect(onSlice.problems({ ...slice, ...change })).toEqual(problems);
  });

  test("has an immutable address type", () => {
    expect(onSlice.updateProblems({ ...slice, addressType: "IPv6" }, slice)).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
  });

  test("gets a new generation when its labels change, because they select it for its Service", () => {
    const rules = endpointSlice.rules as KindRules;
    const labelled = (web: string): ApiObject =>
      onSlice.created({ ...slice, metadata: { labels: { web } } }) as ApiObject;

    expect(rules.isNewGeneration?.(labelled("1"), labelled("2"))).toBe(true);
    expect(rules.isNewGeneration?.(labelled("1"), labelled("1"))).toBe(false);
  });

  test("drops deprecated topology, unless it is stored and the endpoints are unchanged", () => {
    const deprecatedTopology = { zone: "a" };
    const placed = { ...slice, endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology }] };
    const previous = onSlice.read(placed) as ApiObject;
    const moved = onSlice.read({ ...placed, endpoints: [{ addresses: ["10.0.0.2"], deprecatedTopology }] });
    const kept = onSlice.read({ ...placed, metadata: { labels: { a: "b" } } });
    const rules = endpointSlice.rules as KindRules;

    for (const draft of [moved, kept]) rules.prepareUpdate?.(draft, previous, {} as RuleContext);

    expect(onSlice.created(placed)["endpoints"]).toEqual([{ addresses: ["10.0.0.1"], conditions: {} }]);
    expect(moved["endpoints"]).toEqual([{ addresses: ["10.0.0.2"], conditions: {} }]);
    expect(kept["endpoints"]).toMatchObject([{ deprecatedTopology }]);
  });

  test("shows its ports and addresses", () => {
    expect(onSlice.cells({ ...slice, ports: [{ name: "a" }, { name: "b", port: 81 }] })).toEqual([
      "it",
      "IPv4",
      "a,81",
      "10.0.0.1",
      "2m5s",
    ]);
    expect(onSlice.cells({ addressType: "IPv4" })).toEqual(["it", "IPv4", "<unset>", "<unset>", "2m5s"]);
  });
});
