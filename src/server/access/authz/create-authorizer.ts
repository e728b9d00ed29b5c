/** Makes of the options the one authorizer that the server asks. */
import type { Loop } from "../../../base/loop/loop.ts";
import type { Store } from "../../../store/store.ts";
import type { AdmissionPlugin } from "../../admission/plugin.ts";
import { claimPermissions } from "../../admission/plugins/access/claim-permissions.ts";
import { roleEscalation } from "../../admission/plugins/access/role-escalation.ts";
import type { Egress } from "../../egress/egress.ts";
import type { Routine } from "../../upkeep/periodic-task.ts";
import { alwaysAllow, alwaysDeny } from "./always-allow.ts";
import { DEFAULT_AUTHORIZERS } from "./authorization-options.ts";
import type { AuthorizerOptions } from "./authorization-options.ts";
import { authorizerChain } from "./authorizer-chain.ts";
import type { Authorizer } from "./authorizer.ts";
import { nodeAuthorizer } from "./node/node-authorizer.ts";
import { NodeGraph } from "./node/node-graph.ts";
import { nodeRules } from "./rbac/default-roles.ts";
import { RbacAuthorizer } from "./rbac/rbac-authorizer.ts";
import { RoleBook } from "./rbac/role-book.ts";
import { WebhookAuthorizer } from "./webhook/webhook-authorizer.ts";

interface Parts {
  readonly loop: Loop;
  readonly store: Store;
  readonly egress: Egress;
}

interface Authorization {
  readonly authorizer: Authorizer;
  /** What keeps people from giving each other, or themselves, more than they have. */
  readonly guards: readonly AdmissionPlugin[];
  readonly routines: readonly Routine[];
}

interface Member {
  readonly authorizer: Authorizer;
  readonly routine?: Routine;
}

export function createAuthorization(
  parts: Parts,
  options: readonly AuthorizerOptions[] = DEFAULT_AUTHORIZERS,
): Authorization {
  const roles = new RoleBook(parts.store);
  const members = options.map((each) => memberOf(each, roles, parts));
  const authorizer = authorizerChain(members.map((member) => member.authorizer));
  const guards = [
    roleEscalation({ loop: parts.loop, authorizer, book: roles }),
    claimPermissions(authorizer),
  ];
  return { authorizer, guards, routines: members.flatMap(({ routine }) => routine ?? []) };
}

function memberOf(options: AuthorizerOptions, roles: RoleBook, parts: Parts): Member {
  switch (options.type) {
    case "Node":
      return nodeMember(new NodeGraph(parts.store, parts.loop));
    case "RBAC":
      return { authorizer: new RbacAuthorizer(roles) };
    case "AlwaysAllow":
      return { authorizer: alwaysAllow };
    case "AlwaysDeny":
      return { authorizer: alwaysDeny };
    case "Webhook":
      return { authorizer: new WebhookAuthorizer(options, parts) };
  }
}

function nodeMember(graph: NodeGraph): Member {
  return { authorizer: nodeAuthorizer({ graph, rules: nodeRules }), routine: graph.routine() };
}
