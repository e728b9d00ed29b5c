import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { coreEvent } from "./core-event.ts";
import { eventFromCore, eventToCore } from "./event-conversion.ts";
import { event } from "./event.ts";

const core = new KindProbe(coreEvent);
const events = new KindProbe(event);

const metadata = { namespace: "a" };
const old = { metadata, involvedObject: { kind: "Pod", name: "web", namespace: "a" }, reason: "Started" };
const whole = {
  metadata,
  regarding: { kind: "Pod", name: "web", namespace: "a" },
  eventTime: "2026-01-02T03:03:05.000000Z",
  action: "Start",
  reason: "Started",
  type: "Normal",
  note: "it runs ",
  reportingController: "example.com/agent",
  reportingInstance: "agent-1",
};

describe("an Event of v1", () => {
  test.each([
    [old, []],
    [
      { ...old, involvedObject: { namespace: "b" } },
      ['involvedObject.namespace: Invalid value: "b": does not match event.namespace'],
    ],
    [
      { ...old, involvedObject: {} },
      ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ],
    [{ metadata: { namespace: "default" }, involvedObject: { kind: "Node" } }, []],
  ])("is in the namespace of its object: %#", (manifest, problems) => {
    expect(core.problems(manifest)).toEqual(problems);
  });

  test("with an eventTime names its reporter and reason", () => {
    expect(core.problems({ ...old, reason: "", eventTime: "2026-01-02T03:03:05.000000Z" })).toEqual([
      "reportingComponent: Required value",
      expect.stringMatching(/^reportingComponent: Invalid value: "": name part must be non-empty/),
      expect.stringMatching(/^reportingComponent: Invalid value: "": name part must consist/),
      "reportingInstance: Required value",
      "action: Required value",
      "reason: Required value",
    ]);
  });

  test("may change in any way", () => {
    expect(core.updateProblems({ ...old, count: 2, message: "again" }, old)).toEqual([]);
  });

  test("is selectable by its object and its reporter", () => {
    expect(core.fields({ ...old, source: { component: "kubelet" }, type: "Normal" })).toEqual({
      "involvedObject.apiVersion": "",
      "involvedObject.fieldPath": "",
      "involvedObject.kind": "Pod",
      "involvedObject.name": "web",
      "involvedObject.namespace": "a",
      "involvedObject.resourceVersion": "",
      "involvedObject.uid": "",
      reason: "Started",
      reportingComponent: "",
      source: "kubelet",
      type: "Normal",
    });
  });
});

describe("an Event of events.k8s.io/v1", () => {
  test.each([
    [{}, []],
    [{ eventTime: null }, ["eventTime: Required value"]],
    [{ type: "Loud" }, ['type: Invalid value: "": has invalid value: Loud']],
    [{ deprecatedCount: 1 }, ['count: Invalid value: "": needs to be unset']],
    [{ deprecatedSource: { component: "a" } }, ['source: Invalid value: "": needs to be unset']],
    [{ action: "" }, ["action: Required value"]],
    [{ note: "x".repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
    [
      { series: { count: 1 } },
      ['series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value"],
    ],
  ])("has all required fields and no deprecated ones: %#", (change, problems) => {
    expect(events.problems({ ...whole, ...change })).toEqual(problems);
  });

  test("may only change its series", () => {
    const series = { count: 2, lastObservedTime: "2026-01-02T03:04:00.000000Z" };

    expect(events.updateProblems({ ...whole, series }, whole)).toEqual([]);
    expect(
      events.updateProblems({ ...whole, reason: "Stopped", series: { ...series, count: 1 } }, whole),
    ).toEqual([
      'series.count: Invalid value: "": should be at least 2',
      'reason: Invalid value: "Stopped": field is immutable',
    ]);
  });

  test("is selectable by its own field names", () => {
    expect(events.fields(whole)).toMatchObject({
      "regarding.kind": "Pod",
      reportingController: "example.com/agent",
      type: "Normal",
    });
  });
});

describe("the two APIs of events", () => {
  const dates = {
    deprecatedFirstTimestamp: "2026-01-02T03:00:00Z",
    deprecatedLastTimestamp: "2026-01-02T03:01:00Z",
    deprecatedCount: 3,
    deprecatedSource: { component: "kubelet", host: "n1" },
    series: { count: 0, lastObservedTime: "2026-01-02T03:04:00.000000Z" },
    related: { kind: "Node", name: "n1" },
  };

  test.each([[whole], [{ ...whole, ...dates }], [{ metadata }]])(
    "convert without loss in both directions: %#",
    (manifest) => {
      const sent = events.read(manifest);

      expect(eventFromCore(eventToCore(sent))).toEqual(sent);
    },
  );

  test("convert to normal form", () => {
    const stored = eventToCore(events.read({ ...whole, ...dates }));
    const { apiVersion: _, kind: __, ...manifest } = stored;

    expect(core.read(manifest)).toEqual(stored);
    expect(Object.keys(stored)).toEqual(Object.keys(stored).toSorted());
  });

  test("have different names for the same fields", () => {
    expect(eventToCore(events.read({ ...whole, ...dates }))).toMatchObject({
      apiVersion: "v1",
      involvedObject: { name: "web" },
      message: "it runs ",
      count: 3,
      source: { component: "kubelet" },
      reportingComponent: "example.com/agent",
    });
  });

  test.each([
    [
      whole,
      ["60s", "Normal", "Started", "pod/web", "", "example.com/agent, agent-1", "it runs", "60s", 1, "it"],
    ],
    [
      { ...whole, ...dates, series: undefined },
      ["3m5s", "Normal", "Started", "pod/web", "", "kubelet, n1", "it runs", "4m5s", 3, "it"],
    ],
    [
      { ...whole, series: { count: 7, lastObservedTime: "2026-01-02T03:04:00.000000Z" } },
      ["5s", "Normal", "Started", "pod/web", "", "example.com/agent, agent-1", "it runs", "60s", 7, "it"],
    ],
  ])("show the same cells: %#", (manifest, cells) => {
    expect(events.cells(manifest)).toEqual(cells);
    const { apiVersion: _, kind: __, ...stored } = eventToCore(events.read(manifest));
    expect(core.cells(stored)).toEqual(cells);
  });
});
