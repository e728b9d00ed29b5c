// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type CustomResourceColumnDefinition = {
  readonly description?: string;
  readonly format?: string;
  readonly jsonPath: string;
  readonly name: string;
  readonly priority?: number;
  readonly type: string;
};

export type CustomResourceConversion = {
  readonly strategy: string;
  readonly webhook?: WebhookConversion;
};

export type CustomResourceDefinition = {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: StoredMeta;
  readonly spec: CustomResourceDefinitionSpec;
  readonly status: CustomResourceDefinitionStatus;
};
export const CustomResourceDefinition: ResourceType<CustomResourceDefinition> = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

export type CustomResourceDefinitionCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type CustomResourceDefinitionList = {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly items: readonly CustomResourceDefinition[];
  readonly kind: "CustomResourceDefinitionList";
  readonly metadata: ListMeta;
};

export type CustomResourceDefinitionNames = {
  readonly categories?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly singular?: string;
};

export type CustomResourceDefinitionSpec = {
  readonly conversion?: CustomResourceConversion;
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly preserveUnknownFields?: boolean;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersion[];
};

export type CustomResourceDefinitionStatus = {
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly conditions: readonly CustomResourceDefinitionCondition[];
  readonly observedGeneration?: number;
  readonly storedVersions: readonly string[];
};

export type CustomResourceDefinitionVersion = {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly name: string;
  readonly schema?: CustomResourceValidation;
  readonly selectableFields?: readonly SelectableField[];
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: CustomResourceSubresources;
};

export type CustomResourceSubresourceScale = {
  readonly labelSelectorPath?: string;
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
};

export type CustomResourceSubresourceStatus = {};

export type CustomResourceSubresources = {
  readonly scale?: CustomResourceSubresourceScale;
  readonly status?: CustomResourceSubresourceStatus;
};

export type CustomResourceValidation = {
  readonly openAPIV3Schema?: JSONSchemaProps;
};

export type ExternalDocumentation = {
  readonly description?: string;
  readonly url?: string;
};

export type JSONSchemaProps = {
  readonly $ref?: string;
  readonly $schema?: string;
  readonly additionalItems?: JSONSchemaProps | boolean;
  readonly additionalProperties?: JSONSchemaProps | boolean;
  readonly allOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly default?: unknown;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[]>>;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly exclusiveMaximum?: boolean;
  readonly exclusiveMinimum?: boolean;
  readonly externalDocs?: ExternalDocumentation;
  readonly format?: string;
  readonly id?: string;
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[];
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly multipleOf?: number;
  readonly not?: JSONSchemaProps;
  readonly nullable?: boolean;
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly pattern?: string;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly required?: readonly string[];
  readonly title?: string;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
};

export type SelectableField = {
  readonly jsonPath: string;
};

export type ServiceReference = {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
};

export type ValidationRule = {
  readonly fieldPath?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly optionalOldSelf?: boolean;
  readonly reason?:
    | "FieldValueDuplicate"
    | "FieldValueForbidden"
    | "FieldValueInvalid"
    | "FieldValueRequired";
  readonly rule: string;
};

export type WebhookClientConfig = {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
};

export type WebhookConversion = {
  readonly clientConfig?: WebhookClientConfig;
  readonly conversionReviewVersions: readonly string[];
};
