/** Chooses the default among classes, StorageClasses for example. */
import type { ApiObject } from "./kind-rules.ts";

/** The newest class with a mark; the first by name among equally new ones. */
export function newestDefault(classes: readonly ApiObject[], marks: readonly string[]): string | undefined {
  const marked = classes.filter(({ metadata }) =>
    marks.some((mark) => metadata.annotations?.[mark] === "true"),
  );
  return marked.toSorted(byAgeAndName)[0]?.metadata.name;
}

function byAgeAndName({ metadata: left }: ApiObject, { metadata: right }: ApiObject): number {
  const [leftBirth, rightBirth] = [left.creationTimestamp ?? "", right.creationTimestamp ?? ""];
  if (leftBirth !== rightBirth) return leftBirth > rightBirth ? -1 : 1;
  return (left.name ?? "") < (right.name ?? "") ? -1 : 1;
}
