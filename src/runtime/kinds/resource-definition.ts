/**
 * Custom kinds: one definition gives the value that identifies the kind, its TypeScript type and its
 * CustomResourceDefinition.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceSubresourceScale,
  JSONSchemaProps,
} from "../../api/generated/types/apiextensions-v1.ts";
import type { StoredMeta } from "../../api/generated/types/meta-v1.ts";
import { t } from "./schema-part.ts";
import type { AnyPart, ObjectType, SchemaPart, TypeOf } from "./schema-part.ts";

/** Definition of a custom kind for `defineResource`. */
export interface ResourceOptions<Spec extends AnyPart, Status extends AnyPart> {
  /** API group, for example `example.com`. */
  readonly group: string;
  /** API version, for example `v1`. */
  readonly version: string;
  /** Kind in the singular, for example `Thermostat`. */
  readonly kind: string;
  /** Plural in the URL. Default: the kind in lower case with an `s`. */
  readonly plural?: string;
  /** Short names for `kubectl get`. Default: none. */
  readonly shortNames?: readonly string[];
  /** Categories such as `all` for `kubectl get`. Default: none. */
  readonly categories?: readonly string[];
  /** Default: `Namespaced`. */
  readonly scope?: "Namespaced" | "Cluster";
  /** Description that `kubectl explain` shows. Default: none. */
  readonly description?: string;
  /** Schema of `spec`. */
  readonly spec: Spec;
  /** Schema of `status`. With it, spec and status are written separately (status subresource). Default: no status. */
  readonly status?: Status;
  /** Columns of `kubectl get` besides the name; Age is added. Default: the server's. */
  readonly columns?: readonly Column[];
  /** Fields that `kubectl scale` and autoscalers read and write. Default: no scale subresource. */
  readonly scale?: CustomResourceSubresourceScale;
}

/** A column of `kubectl get`. */
export interface Column extends Omit<CustomResourceColumnDefinition, "jsonPath" | "type"> {
  /** JSONPath of the value, for example `.spec.target`. */
  readonly path: string;
  /** Default: `string`. */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
}

/** An object of a custom kind as the server returns it. */
export interface CustomObject<Spec, Status> extends ApiObject {
  readonly metadata: StoredMeta;
  readonly spec: Spec;
  /** Missing until it is first written. */
  readonly status?: Status;
}

/** A custom kind: pass it to clients, caches and controllers. */
export interface DefinedResource<T extends ApiObject> extends ResourceType<T> {
  /** Manifest to be applied before the first object is created; `setpoint crd` prints it. */
  readonly definition: CustomResourceManifest;
}

/** Manifest of a CustomResourceDefinition. */
export type CustomResourceManifest = Pick<CustomResourceDefinition, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string };
  readonly spec: Omit<CustomResourceDefinition["spec"], "names"> & {
    readonly names: Partial<CustomResourceDefinition["spec"]["names"]> & { readonly kind: string };
  };
};

/** The TypeScript type of a kind: `type Thermostat = ObjectOf<typeof Thermostat>`. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never;

/** Defines a custom kind from its schema. The result identifies the kind and carries its CustomResourceDefinition. */
export function defineResource<
  Spec extends AnyPart,
  Status extends AnyPart = SchemaPart<ObjectType<Record<never, never>>>,
>(options: ResourceOptions<Spec, Status>): DefinedResource<CustomObject<TypeOf<Spec>, TypeOf<Status>>> {
  const { group, version, kind, scope = "Namespaced" } = options;
  const plural = options.plural ?? `${kind.toLowerCase()}s`;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    plural,
    namespaced: scope === "Namespaced",
    definition: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope, names: namesOf(options, plural), versions: [versionOf(options)] },
    },
  };
}

function namesOf(
  { kind, shortNames, categories }: ResourceOptions<AnyPart, AnyPart>,
  plural: string,
): CustomResourceManifest["spec"]["names"] {
  return {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    ...(shortNames !== undefined && { shortNames }),
    ...(categories !== undefined && { categories }),
  };
}

function versionOf(
  options: ResourceOptions<AnyPart, AnyPart>,
): CustomResourceDefinition["spec"]["versions"][number] {
  const { version, status, scale, columns = [] } = options;
  const subresources = { ...(status !== undefined && { status: {} }), ...(scale !== undefined && { scale }) };
  return {
    name: version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schemaOf(options) },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(columns.length > 0 && { additionalPrinterColumns: [...columns.map(columnOf), AGE] }),
  };
}

function schemaOf({ spec, status, description }: ResourceOptions<AnyPart, AnyPart>): JSONSchemaProps {
  const whole = t.object({ spec, ...(status !== undefined && { status: status.optional() }) });
  return { ...whole.schema, ...(description !== undefined && { description }) };
}

/** Given columns replace the default Age column, so it is added again. */
const AGE: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

function columnOf({ path, type = "string", ...rest }: Column): CustomResourceColumnDefinition {
  return { ...rest, type, jsonPath: path };
}
