/** Children whose manifests the compiler checks against their kind. */
import type { ApiObject, Manifest, ResourceType } from "../../api/api-object.ts";

/** Manifest of a child whose kind is known only at run time. `child` gives one that the compiler checks. */
export type ChildManifest = Manifest<ApiObject> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
};

/** A child for `ReconcileContext.children`. Made by `child`. */
export interface DeclaredChild {
  readonly manifest: ChildManifest;
  readonly leave: readonly string[];
}

/** Options of a child. */
export interface ChildOptions {
  /**
   * Paths of fields that are set when the child is created and then left to other writers, for example
   * `["spec.replicas"]` for an autoscaler. A path names members of objects, not items of lists. Default: none.
   */
  readonly leave?: readonly string[];
}

/** Manifest of a child of a kind. Its name is required. */
export type NamedManifest<T extends ApiObject> = Manifest<T> & {
  readonly metadata: { readonly name: string };
};

/** Declares a child: `child(Deployment, { metadata: { name: "web" }, spec })`. The compiler checks its fields. */
export function child<T extends ApiObject>(
  { apiVersion, kind }: ResourceType<T>,
  manifest: NamedManifest<T>,
  { leave = [] }: ChildOptions = {},
): DeclaredChild {
  // Safe: a manifest is an object with metadata, whatever its other fields are.
  const fields = manifest as Omit<ChildManifest, "apiVersion" | "kind">;
  return { manifest: { ...fields, apiVersion, kind }, leave };
}
