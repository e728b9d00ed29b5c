/** The stage at which it is found out whether somebody may make their request, before a byte of its body is read. */
import { forbidden } from "../../api/api-error.ts";
import type { Exchange, Stage } from "../exchange.ts";
import type { AccessAttributes, AccessDecision, Authorizer } from "./authorizer.ts";

export function authorize(authorizer: Authorizer): Stage {
  return (exchange, next) => {
    const attributes = attributesOf(exchange);
    const decision = authorizer.decide(attributes);
    if (decision instanceof Promise) {
      return decision.then((made) => {
        enforce(made, attributes);
        return next(exchange);
      });
    }
    enforce(decision, attributes);
    return next(exchange);
  };
}

/** What a request asks for. */
function attributesOf({ request, path, query, info, user }: Exchange): AccessAttributes {
  if (user === undefined) throw new Error("who asks is known before it is decided whether they may");
  if (info.type === "other") return { ...NOTHING, user, verb: request.method.toLowerCase(), path };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  const isSelective = name === "" && query.size > 0;
  return {
    user,
    verb,
    path: "",
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    fieldSelector: isSelective ? (query.get("fieldSelector") ?? "") : "",
    labelSelector: isSelective ? (query.get("labelSelector") ?? "") : "",
  };
}

const NOTHING = {
  path: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

function enforce({ outcome, reason }: AccessDecision, attributes: AccessAttributes): void {
  if (outcome === "allowed") return;
  const { group, resource, name } = attributes;
  throw forbidden({ group, resource }, name, refusalText(attributes, reason));
}

/** As kubectl's users know it. */
function refusalText({ user, verb, path, ...target }: AccessAttributes, reason: string): string {
  const { group, resource, subresource, namespace } = target;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  const why = reason === "" ? "" : `: ${reason}`;
  if (resource === "") return `${who} path ${JSON.stringify(path)}${why}`;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}${why}`;
}
