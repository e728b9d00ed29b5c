/** Compiles the match conditions of webhooks: the variables they may use, and upstream's error texts. */
import { CelCompileError, compileFailure } from "../../api/cel/cel-error.ts";
import { AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE } from "../../api/cel/library/authorizer-library.ts";
import { compileCel, type Program } from "../../api/cel/program.ts";
import {
  BOOL,
  type CelType,
  DYN,
  type FieldType,
  listOf,
  mapOf,
  namedType,
  objectType,
  STRING,
  declaredTypeText,
} from "../../api/cel/type.ts";

type Fields = Readonly<Record<string, CelType>>;

export function recordType(name: string, fields: Fields): CelType {
  const types = new Map(
    Object.entries(fields).map(([jsonName, type]): [string, FieldType] => [jsonName, { type, jsonName }]),
  );
  return objectType(name, { find: (field) => types.get(field), names: [...types.keys()] });
}

const GROUP_VERSION_KIND = recordType("kubernetes.GroupVersionKind", {
  group: STRING,
  version: STRING,
  kind: STRING,
});
const GROUP_VERSION_RESOURCE = recordType("kubernetes.GroupVersionResource", {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const USER_INFO = recordType("kubernetes.UserInfo", {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

/** The request of an AdmissionReview without `object` and `oldObject`, which are variables of their own. */
export const REQUEST_TYPE = recordType("kubernetes.AdmissionRequest", {
  kind: GROUP_VERSION_KIND,
  resource: GROUP_VERSION_RESOURCE,
  subResource: STRING,
  requestKind: GROUP_VERSION_KIND,
  requestResource: GROUP_VERSION_RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER_INFO,
  dryRun: BOOL,
  options: DYN,
});

const VARIABLES: ReadonlyMap<string, CelType> = new Map([
  ["object", DYN],
  ["oldObject", DYN],
  ["request", REQUEST_TYPE],
  ["authorizer", namedType(AUTHORIZER_TYPE)],
  ["authorizer.requestResource", namedType(RESOURCE_CHECK_TYPE)],
]);

type CompiledCondition =
  | { readonly program: Program }
  /** Error text, equal to upstream's. */
  | { readonly mistake: string };

export function compileMatchCondition(expression: string): CompiledCondition {
  try {
    const program = compileCel(expression, { variables: VARIABLES });
    if (program.type.name === BOOL.name) return { program };
    return { mistake: `must evaluate to bool but got ${declaredTypeText(program.type)}` };
  } catch (error) {
    if (error instanceof CelCompileError) return { mistake: compileFailure(error) };
    throw error;
  }
}
