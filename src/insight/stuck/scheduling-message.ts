/** Reads the scheduler's message: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` */
export interface NodeGroup {
  readonly count: number;
  readonly reason: string;
}

export interface SchedulingMessage {
  readonly nodes: number;
  readonly groups: readonly NodeGroup[];
}

/** Without groups for another message. A part without a number is about all nodes. */
export function parseSchedulingMessage(message: string): SchedulingMessage {
  const [, count, rest = ""] = /^0\/(\d+) nodes are available: (.*)$/s.exec(message) ?? [];
  if (count === undefined) return { nodes: 0, groups: [] };
  const nodes = Number(count);
  const [reasons = ""] = rest.split(/\. |\.$/);
  const groups = reasons.split(", ").map((part): NodeGroup => {
    const [, some, reason = ""] = /^(\d+) (.*)$/s.exec(part) ?? [];
    return some === undefined ? { count: nodes, reason: part } : { count: Number(some), reason };
  });
  return { nodes, groups };
}

export function groupText({ count, reason }: NodeGroup): string {
  return `${String(count)} ${reason}`;
}
