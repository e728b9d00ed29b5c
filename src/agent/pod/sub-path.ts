/**
 * Expands the paths of mounts that refer to environment variables. Errors occur only when the container is
 * created. A variable with an unknown value counts as valid.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import { environmentOf, expand, referencesIn } from "./environment.ts";
import type { PodFacts } from "./pod-facts.ts";

/** Variables of this form may come from a Service of the namespace. */
const SERVICE_VARIABLE = /_SERVICE_(?:HOST|PORT)|_PORT(?:_|$)/;

/** Why the container cannot be created; equals the kubelet's text. */
export function findMountProblem(facts: PodFacts, container: Container): string | undefined {
  const { volumeMounts = [], envFrom = [] } = container;
  const expressions = volumeMounts.map(({ subPathExpr = "" }) => subPathExpr).filter((text) => text !== "");
  if (expressions.length === 0) return undefined;
  const environment = environmentOf(facts.pod, container, facts);
  for (const text of expressions) {
    const missing = referencesIn(text).find((name) => !environment.has(name));
    if (missing === undefined) {
      const problem = findPathProblem(expand(text, environment));
      if (problem !== undefined) return problem;
    } else if (envFrom.length === 0 && !SERVICE_VARIABLE.test(missing)) {
      return `missing value for ${JSON.stringify(missing)}`;
    }
  }
  return undefined;
}

function findPathProblem(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  if (path.startsWith("/")) return `error SubPath \`${path}\` must not be an absolute path`;
  if (path.split("/").includes("..")) return `unable to provision SubPath \`${path}\`: must not contain '..'`;
  return undefined;
}
