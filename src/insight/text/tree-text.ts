/** Draws a tree with its times and revisions at the right edge. */
import { oneLine, textWidth, wrapText } from "./text-width.ts";

export interface TreeNode {
  readonly text: string;
  /** For the right edge: when, and which revision or pass. */
  readonly time?: string;
  readonly mark?: string;
  readonly children?: readonly TreeNode[];
}

/** Width of `14:02:11.204`. */
const TIME_WIDTH = 12;
/** Column of the times; a longer line moves its own to the right. */
const EDGE_MAX = 96;
/** Narrower texts are not wrapped any further. */
const TEXT_MIN = 24;

interface Line {
  readonly text: string;
  /** Begin of the lines that follow a break. */
  readonly indent: string;
  readonly node: TreeNode;
}

/** `columns` of a terminal; longer lines are broken at spaces, and their times stay at the edge. */
export function treeText(nodes: readonly TreeNode[], columns = Infinity): string {
  const lines: Line[] = [];
  const draw = (node: TreeNode, first: string, below: string): void => {
    const children = node.children ?? [];
    lines.push({
      text: `  ${first}${oneLine(node.text)}`,
      indent: `  ${below}${children.length > 0 ? "│ " : "  "}`,
      node,
    });
    for (const [index, child] of children.entries()) {
      const isLast = index === children.length - 1;
      draw(child, `${below}${isLast ? "└ " : "├ "}`, `${below}${isLast ? "  " : "│ "}`);
    }
  };
  for (const node of nodes) draw(node, "", "");
  const marks = Math.max(0, ...lines.map(({ node }) => node.mark?.length ?? 0));
  const room = Math.max(TEXT_MIN, columns - TIME_WIDTH - 2 - marks);
  const widest = Math.max(0, ...lines.map(({ text }) => textWidth(text)));
  const edge = Math.min(EDGE_MAX, room, widest + 2);
  return lines.map((line) => lineText(line, edge, columns < Infinity)).join("");
}

function lineText({ text, indent, node }: Line, edge: number, isBroken: boolean): string {
  const { time = "", mark = "" } = node;
  const [first = "", ...rest] = isBroken ? wrapText(text, edge - 2, indent) : [text];
  const more = rest.map((line) => `${line}\n`).join("");
  if (time === "" && mark === "") return `${first}\n${more}`;
  const filled = first + " ".repeat(Math.max(0, edge - 2 - textWidth(first)));
  return `${`${filled}  ${time.padEnd(TIME_WIDTH)}  ${mark}`.trimEnd()}\n${more}`;
}
