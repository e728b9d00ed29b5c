/**
 * Whether a pod that runs may be given less memory. One that uses more than it is to have would be killed for it, so that it keeps all it has, in
 * kubelet's words, until it uses less.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import { sizeOf } from "./container-size.ts";
import { recordOf, type PodFacts } from "./pod-facts.ts";
import { containersOf } from "./restart-rules.ts";

interface Shrinking {
  /** Bytes; undefined without a limit. */
  readonly limit: number | undefined;
  readonly before: number | undefined;
  readonly used: number;
}

/** What is wrong; undefined when containers may be resized as they run. */
export function findShrinkProblem(facts: PodFacts): string | undefined {
  const sized = containersOf(facts.pod).filter(({ container }) => isSized(facts, container));
  if (sized.length === 0) return undefined;
  const problems = [
    ...tooSmall("pod", wholeOf(facts)),
    ...sized.flatMap(({ container }) =>
      tooSmall(`container "${container.name}"`, memoryOf(facts, container)),
    ),
  ];
  const [first, ...others] = problems;
  if (first === undefined) return undefined;
  const text = others.length === 0 ? first : `[${problems.join(", ")}]`;
  return `cannot decrease memory limits: ${text}`;
}

/** It gets another size while it runs. */
function isSized(facts: PodFacts, container: Container): boolean {
  const record = recordOf(facts, container.name);
  const { phase } = record;
  return phase.type === "running" && phase.killAt === undefined && sizeOf(container, record) === "other";
}

function tooSmall(what: string, { limit, before = Infinity, used }: Shrinking): readonly string[] {
  if (limit === undefined || limit >= before || used < limit) return [];
  return [`attempting to set ${what} memory limit (${limit}) below current usage (${used})`];
}

/** The pod is bounded when all that stays of it is. */
function wholeOf(facts: PodFacts): Shrinking {
  const staying = containersOf(facts.pod).filter(({ role }) => role === "main" || role === "sidecar");
  const all = staying.map(({ container }) => memoryOf(facts, container));
  return {
    limit: sumOf(all.map(({ limit }) => limit)),
    before: sumOf(all.map(({ before }) => before)),
    used: sumOf(all.map(({ used }) => used)) ?? 0,
  };
}

function memoryOf(facts: PodFacts, container: Container): Shrinking {
  const { resources } = container;
  const given = recordOf(facts, container.name).resources ?? resources;
  return {
    limit: limitOf(resources),
    before: limitOf(given),
    used: facts.memoryUsedBy(container),
  };
}

function limitOf({ limits }: Container["resources"]): number | undefined {
  const text = limits?.["memory"];
  return text === undefined ? undefined : resourceNumber("memory", text);
}

function sumOf(amounts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}
