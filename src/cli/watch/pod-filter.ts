/** Filter of pods by words: each must occur in `namespace/name`, or be a label `key=value`. Pure. */
import type { PodCell } from "./watched-objects.ts";

export interface PodFilter {
  readonly isEmpty: boolean;
  matches(pod: PodCell): boolean;
}

export function compileFilter(text: string): PodFilter {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return {
    isEmpty: words.length === 0,
    matches: (pod) => words.every((word) => hasWord(pod, word)),
  };
}

function hasWord({ namespace, name, labels }: PodCell, word: string): boolean {
  if (word.includes("=")) return `,${labels},`.includes(`,${word},`);
  return `${namespace}/${name}`.includes(word);
}
