/** Options for simulated nodes: their number and their shapes. */
import { labelValue, qualifiedName } from "../api/values/names.ts";
import { canonicalQuantity } from "../api/values/quantity.ts";
import { NODES } from "../cluster/loops/loops.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, findTexts, UsageError, type Arguments, type OptionSpec } from "./command.ts";

type NodeOptions = Pick<ClusterOptions, "nodes" | "nodeShapes">;
type NodeShape = NonNullable<ClusterOptions["nodeShapes"]>[number];

export const nodeOptions: readonly OptionSpec[] = [
  { flags: "--nodes <count>", help: `number of simulated nodes (default: ${NODES}, or all shapes)` },
  {
    flags: "--node-shape <shape>",
    help: "count=2,cpu=4,memory=16Gi,labels=zone=a; repeatable",
    isRepeatable: true,
  },
];

/** Upper bound of simulated nodes: more would have no addresses. */
const NODES_MAX = 16_000;

/** Without `--nodes` there is one node for each shape, or as many as its `count` says; without both, `fallback`. */
export function parseNodeOptions(args: Arguments, fallback = NODES): NodeOptions {
  const given = findText(args, "nodes");
  const shapes = findTexts(args, "nodeShape").map(parseShape);
  const inTurn = shapes.flatMap(({ count, shape }) => Array.from({ length: count }, () => shape));
  if (inTurn.length > NODES_MAX)
    throw new UsageError(`--node-shape must give at most ${NODES_MAX} nodes, found ${inTurn.length}`);
  const byDefault = inTurn.length === 0 ? fallback : inTurn.length;
  const nodes = given === undefined ? byDefault : parseNodes(given);
  return inTurn.length === 0 ? { nodes } : { nodes, nodeShapes: inTurn };
}

function parseNodes(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : Infinity;
  if (count <= NODES_MAX) return count;
  throw new UsageError(`--nodes must be a number from 0 to ${NODES_MAX}, found "${text}"`);
}

interface CountedShape {
  readonly count: number;
  readonly shape: NodeShape;
}

/** Parts are `count=N`, `labels=KEY=VALUE` (repeatable) or `RESOURCE=AMOUNT`. */
function parseShape(text: string): CountedShape {
  const capacity: Record<string, string> = {};
  const labels: Record<string, string> = {};
  let count = 1;
  for (const part of text.split(",")) {
    const [, name = "", value = ""] = /^\s*([^=]*)=(.*?)\s*$/.exec(part) ?? [];
    if (name === "count") count = parseCount(value);
    else if (name === "labels") Object.assign(labels, parseLabel(value));
    else capacity[name] = parseAmount({ name, value, part });
  }
  return { count, shape: { capacity, labels } };
}

function parseCount(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= NODES_MAX) return count;
  throw new UsageError(`--node-shape: count must be a number from 1 to ${NODES_MAX}, found "${text}"`);
}

function parseLabel(text: string): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  const [key, value] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  const [problem] = [...qualifiedName(key), ...labelValue(value)];
  if (problem === undefined && at >= 0) return { [key]: value };
  throw new UsageError(`--node-shape: labels must be KEY=VALUE, found "${text}"`);
}

function parseAmount({ name, value, part }: { name: string; value: string; part: string }): string {
  if (qualifiedName(name).length > 0)
    throw new UsageError(
      `--node-shape must be like cpu=4,memory=16Gi,labels=zone=a,count=2, found "${part}"`,
    );
  try {
    const amount = canonicalQuantity(value);
    if (!amount.startsWith("-")) return amount;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`--node-shape: ${name} must be an amount like 4 or 16Gi, found "${value}"`);
}
