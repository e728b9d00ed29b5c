/** One's own kind: from one definition come the value that names it, its TypeScript type and its CustomResourceDefinition. */
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

export interface ResourceOptions<Spec extends AnyPart, Status extends AnyPart> {
  /** `example.com`. */
  readonly group: string;
  readonly version: string;
  /** In the singular, `Thermostat`. */
  readonly kind: string;
  /** The kind in lower case with an `s`, unless given. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope?: "Namespaced" | "Cluster";
  readonly description?: string;
  readonly spec: Spec;
  /** With a status of its own, spec and status are written apart from each other. */
  readonly status?: Status;
  /** What `kubectl get` shows, besides the name. */
  readonly columns?: readonly Column[];
  /** Where `kubectl scale` and autoscalers find their numbers. */
  readonly scale?: CustomResourceSubresourceScale;
}

export interface Column extends Omit<CustomResourceColumnDefinition, "jsonPath" | "type"> {
  /** `.spec.target`. */
  readonly path: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
}

/** Objects of the kind as the server gives them. */
export interface CustomObject<Spec, Status> extends ApiObject {
  readonly metadata: StoredMeta;
  readonly spec: Spec;
  /** Missing until somebody writes it. */
  readonly status?: Status;
}

export interface DefinedResource<T extends ApiObject> extends ResourceType<T> {
  /** To be applied before the first object is made; `setpoint crd` prints it. */
  readonly definition: CustomResourceManifest;
}

export type CustomResourceManifest = Pick<CustomResourceDefinition, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string };
  readonly spec: Omit<CustomResourceDefinition["spec"], "names"> & {
    readonly names: Partial<CustomResourceDefinition["spec"]["names"]> & { readonly kind: string };
  };
};

/** The TypeScript type of a kind: `type Thermostat = ObjectOf<typeof Thermostat>`. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never;

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

/** Named columns replace the ones that every kind has, of which people miss this one. */
const AGE: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

function columnOf({ path, type = "string", ...rest }: Column): CustomResourceColumnDefinition {
  return { ...rest, type, jsonPath: path };
}
