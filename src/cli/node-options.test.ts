import { describe, expect, test } from "vitest";
import { UsageError, type Arguments } from "./command.ts";
import { parseNodeOptions } from "./node-options.ts";

describe("--nodes", () => {
  test("is a number, by default 3", () => {
    expect(parseNodeOptions(args({ nodes: "5000" }))).toEqual({ nodes: 5000 });
    expect(parseNodeOptions(args({}))).toEqual({ nodes: 3 });
  });

  test.each(["", "-1", "many", "1e3", "16001"])("%j is refused", (nodes) => {
    expect(() => parseNodeOptions(args({ nodes }))).toThrow(UsageError);
  });
});

describe("--node-shape", () => {
  test("gives capacity, labels and the number of nodes", () => {
    const nodeShape = [
      "cpu=4,memory=16384Mi,labels=zone=a,labels=example.com/disk=ssd,count=2",
      "example.com/gpu=1",
    ];
    const large = {
      capacity: { cpu: "4", memory: "16Gi" },
      labels: { zone: "a", "example.com/disk": "ssd" },
    };

    expect(parseNodeOptions(args({ nodeShape }))).toEqual({
      nodes: 3,
      nodeShapes: [large, large, { capacity: { "example.com/gpu": "1" }, labels: {} }],
    });
  });

  test("leaves the number of nodes to --nodes", () => {
    expect(parseNodeOptions(args({ nodes: "7", nodeShape: ["cpu=2"] })).nodes).toBe(7);
  });

  test.each([
    ["big", '--node-shape must be like cpu=4,memory=16Gi,labels=zone=a,count=2, found "big"'],
    ["", '--node-shape must be like cpu=4,memory=16Gi,labels=zone=a,count=2, found ""'],
    ["cpu=lots", '--node-shape: cpu must be an amount like 4 or 16Gi, found "lots"'],
    ["cpu=-1", '--node-shape: cpu must be an amount like 4 or 16Gi, found "-1"'],
    ["labels=zone", '--node-shape: labels must be KEY=VALUE, found "zone"'],
    ["labels=a b=c", '--node-shape: labels must be KEY=VALUE, found "a b=c"'],
    ["count=0", '--node-shape: count must be a number from 1 to 16000, found "0"'],
  ])("%j is refused", (shape, message) => {
    expect(() => parseNodeOptions(args({ nodeShape: [shape] }))).toThrow(new UsageError(message));
  });

  test("counts add up to a bounded number of nodes", () => {
    expect(() => parseNodeOptions(args({ nodeShape: ["count=9000", "count=9000"] }))).toThrow(
      "--node-shape must give at most 16000 nodes, found 18000",
    );
  });
});

function args(options: Arguments["options"]): Arguments {
  return { operands: {}, rest: [], options };
}
