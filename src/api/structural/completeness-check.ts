/** Checks that every field named in a branch (`allOf`, `anyOf`, `oneOf`, `not`) is also specified outside of branches. */
import type { FieldErrors, FieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { isSchema } from "./structural.ts";

/** Path of the required structure, and path of the branch that names it. */
interface Paths {
  readonly structure: FieldPath;
  readonly branch: FieldPath;
  readonly errors: FieldErrors;
}

/** Checks the branches of this schema but, as upstream, not those of its properties. */
export function checkComplete(schema: JSONSchemaProps, path: FieldPath, errors: FieldErrors): void {
  checkBranches(schema, schema, { structure: path, branch: path, errors });
}

function checkBranches(branch: JSONSchemaProps, schema: JSONSchemaProps, paths: Paths): void {
  if (branch.not !== undefined)
    checkNested(branch.not, schema, { ...paths, branch: paths.branch.child("not") });
  for (const name of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [at, nested] of (branch[name] ?? []).entries())
      checkNested(nested, schema, { ...paths, branch: paths.branch.child(name).index(at) });
  }
}

function checkNested(branch: JSONSchemaProps, schema: JSONSchemaProps | undefined, paths: Paths): void {
  if (schema === undefined) {
    paths.errors.required(paths.structure, `because it is defined in ${paths.branch.toString()}`);
    return;
  }
  checkBranches(branch, schema, paths);
  if (isSchema(branch.items)) {
    const items = isSchema(schema.items) ? schema.items : undefined;
    checkNested(
      branch.items,
      items,
      childPaths(paths, (path) => path.child("items")),
    );
  }
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    const properties = schema.properties ?? {};
    const named = Object.hasOwn(properties, name) ? properties[name] : undefined;
    checkNested(
      property,
      named,
      childPaths(paths, (path) => path.child("properties").key(name)),
    );
  }
}

function childPaths({ structure, branch, errors }: Paths, child: (path: FieldPath) => FieldPath): Paths {
  return { structure: child(structure), branch: child(branch), errors };
}
