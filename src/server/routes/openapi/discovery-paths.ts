/** Paths outside the resources: discovery, the server version and the OIDC documents of its token issuer. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { builtInStruct } from "../../../api/schema/built-in-schema.ts";
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import { publishedName, reference, type Dialect } from "./definition-name.ts";
import { camel, camelGroup, groupTag, tagOf } from "./operation-name.ts";

export interface DiscoveryPath {
  /** Name of its OpenAPI v3 document. */
  readonly name: string;
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly types: readonly string[];
  /** Undefined for text. */
  readonly answer: StructSchema | undefined;
  /** Whether the v2 document lists request media types, which some paths lack. */
  readonly consumes: boolean;
}

const JSON_TYPE = "application/json";
const OBJECT_TYPES = [JSON_TYPE, "application/yaml", "application/vnd.kubernetes.protobuf"];
const OF_OBJECTS = { types: OBJECT_TYPES, consumes: true };

/** Each path has its own document. Groups of custom kinds have none. */
export function discoveryPaths(builtIn: readonly GroupVersionFacts[]): readonly DiscoveryPath[] {
  const groups = [...new Set(builtIn.map(({ group }) => group))].filter((group) => group !== "");
  return [
    rootPath("api", "getCoreAPIVersions", { tag: "core", answer: "meta.v1.APIVersions" }),
    rootPath("apis", "getAPIVersions", { tag: "apis", answer: "meta.v1.APIGroupList" }),
    ...groups.map((group) =>
      rootPath(`apis/${group}`, `get${camel(groupTag(group))}APIGroup`, {
        tag: groupTag(group),
        answer: "meta.v1.APIGroup",
      }),
    ),
    {
      ...rootPath("version", "getCodeVersion", { tag: "version", answer: "version.Info" }),
      types: [JSON_TYPE],
    },
    ...ISSUER,
  ];
}

const ISSUER: readonly DiscoveryPath[] = [
  {
    name: ".well-known/openid-configuration",
    path: "/.well-known/openid-configuration/",
    id: "getServiceAccountIssuerOpenIDConfiguration",
    tag: "WellKnown",
    types: [JSON_TYPE],
    answer: undefined,
    consumes: false,
  },
  {
    name: "openid/v1/jwks",
    path: "/openid/v1/jwks/",
    id: "getServiceAccountIssuerOpenIDKeyset",
    tag: "openid",
    types: ["application/jwk-set+json"],
    answer: undefined,
    consumes: false,
  },
];

/** Path of a built-in group version's resource list, which is part of that version's document. */
export function resourceListPath(facts: GroupVersionFacts): DiscoveryPath {
  const { group, version } = facts;
  const name = group === "" ? `api/${version}` : `apis/${group}/${version}`;
  return rootPath(name, `get${camelGroup(facts)}APIResources`, {
    tag: tagOf(facts),
    answer: "meta.v1.APIResourceList",
  });
}

function rootPath(
  name: string,
  id: string,
  { tag, answer }: { readonly tag: string; readonly answer: string },
): DiscoveryPath {
  return { name, path: `/${name}/`, id, tag, ...OF_OBJECTS, answer: builtInStruct(answer) };
}

export function discoveryDocument(
  { id, tag, types, answer, consumes }: DiscoveryPath,
  dialect: Dialect,
): JsonObject {
  const schema =
    answer === undefined ? { type: "string" } : reference(publishedName(answer.definition), dialect);
  const good =
    dialect === "v2" ? { schema } : { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
  const responses = { "200": { description: "OK", ...good }, "401": { description: "Unauthorized" } };
  const media = dialect === "v2" ? { ...(consumes && { consumes: types }), produces: types } : {};
  return { get: { operationId: id, tags: [tag], ...media, responses } };
}
