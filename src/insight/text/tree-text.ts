/** Draws a tree with its times and revisions at the right edge. */
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

export function treeText(nodes: readonly TreeNode[]): string {
  const lines: { left: string; node: TreeNode }[] = [];
  const draw = (node: TreeNode, first: string, below: string): void => {
    lines.push({ left: `  ${first}${node.text}`, node });
    const children = node.children ?? [];
    for (const [index, child] of children.entries()) {
      const isLast = index === children.length - 1;
      draw(child, `${below}${isLast ? "└ " : "├ "}`, `${below}${isLast ? "  " : "│ "}`);
    }
  };
  for (const node of nodes) draw(node, "", "");
  const edge = Math.min(EDGE_MAX, Math.max(...lines.map(({ left }) => left.length)) + 2);
  return lines.map(({ left, node }) => line(left, node, edge)).join("");
}

function line(left: string, { time = "", mark = "" }: TreeNode, edge: number): string {
  if (time === "" && mark === "") return `${left}\n`;
  return `${left.padEnd(edge - 2)}  ${time.padEnd(TIME_WIDTH)}  ${mark}`.trimEnd() + "\n";
}
