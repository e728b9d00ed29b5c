/** Warns about finalizer names that may collide with others. Built-in kinds refuse them, custom kinds accept them. */
import { qualifiedName } from "../../api/values/names.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";

/** Finalizers of the garbage collector and of namespaces. */
const STANDARD: readonly string[] = ["orphan", "foregroundDeletion", "kubernetes"];

export function finalizerWarnings(next: ApiObject, previous: ApiObject | undefined): readonly string[] {
  const before = previous?.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  return [...new Set(added)].toSorted().flatMap(warningsAbout);
}

function warningsAbout(finalizer: string): readonly string[] {
  const advice =
    finalizer.includes("/") || STANDARD.includes(finalizer)
      ? []
      : [
          `prefer a domain-qualified finalizer name ${finalizer.includes(".") ? "including a path (/) " : ""}to avoid accidental conflicts with other finalizer writers`,
        ];
  return [...qualifiedName(finalizer), ...advice].map(
    (text) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${text}`,
  );
}
