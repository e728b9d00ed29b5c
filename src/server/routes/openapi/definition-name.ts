/** Published names of structs, such as `io.k8s.api.apps.v1.Deployment`. */
import type { JsonObject } from "../../../api/json/json-object.ts";

/** Version of OpenAPI. It determines the path of a definition. */
export type Dialect = "v2" | "v3";

/** Prefix by the first part of a short name (`meta.v1.Time`). */
const PREFIXES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.",
  version: "io.k8s.apimachinery.pkg.",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.",
};

export function publishedName(definition: string): string {
  const first = definition.slice(0, definition.indexOf("."));
  return (PREFIXES[first] ?? "io.k8s.api.") + definition;
}

/** Reference to a definition by its published name. */
export function reference(name: string, dialect: Dialect): JsonObject {
  return { $ref: `#/${dialect === "v2" ? "definitions" : "components/schemas"}/${name}` };
}
