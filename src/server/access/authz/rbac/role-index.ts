/** Indexes current roles and bindings by subject. An acknowledged write counts for the next question. */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from "../../../../api/generated/types/rbac-v1.ts";
import type { Mark, Store, View } from "../../../../store/store.ts";
import { LiveIndex } from "../../../objects/live-index.ts";
import { findKept } from "../../../objects/stored-object.ts";
import type { User } from "../../../request/user.ts";

const ROLES = "/registry/roles/";
const CLUSTER_ROLES = "/registry/clusterroles/";
const BINDINGS = "/registry/rolebindings/";
const CLUSTER_BINDINGS = "/registry/clusterrolebindings/";

type Binding = RoleBinding | ClusterRoleBinding;

/** The grant of a binding to one subject. */
interface Grant {
  readonly binding: Binding;
  /** Text for people: `ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`. */
  readonly source: string;
}

/** Rules that a binding grants, or an error if its role does not exist. */
type GrantedRules =
  | { readonly source: string; readonly rules: readonly PolicyRule[] }
  | { readonly missing: string };

export class RoleIndex {
  readonly #store: Store;
  readonly #cluster = new Map<string, Set<Grant>>();
  /** Keyed by namespace, then by subject. */
  readonly #namespaced = new Map<string, Map<string, Set<Grant>>>();
  /** Grants of each binding, by namespace and name. */
  readonly #grants = new Map<string, readonly (readonly [string, Grant])[]>();
  readonly #clusterBindings = new LiveIndex<ClusterRoleBinding>({
    prefix: CLUSTER_BINDINGS,
    add: (binding) => this.#add(this.#cluster, binding),
    remove: (binding) => this.#remove(this.#cluster, binding),
  });
  readonly #bindings = new LiveIndex<RoleBinding>({
    prefix: BINDINGS,
    add: (binding) => this.#add(this.#inNamespace(binding.metadata.namespace ?? ""), binding),
    remove: (binding) => this.#removeNamespaced(binding),
  });
  #view: View | undefined;
  #roles: Mark | undefined;
  #clusterRoles: Mark | undefined;
  #edition = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Changes with every change of a role or binding. */
  get edition(): number {
    const { view } = this.#store;
    if (view !== this.#view) this.#catchUp(view);
    return this.#edition;
  }

  /** Grants of a user: by ClusterRoleBindings, then by RoleBindings of the namespace unless it is empty. */
  grantsTo(user: User, namespace: string): readonly GrantedRules[] {
    void this.edition;
    const subjects = [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)];
    const places = [this.#cluster, ...(namespace === "" ? [] : [this.#namespaced.get(namespace)])];
    return places.flatMap((bySubject) =>
      subjects.flatMap((subject) => Array.from(bySubject?.get(subject) ?? [], (grant) => this.#given(grant))),
    );
  }

  /** Undefined if the role does not exist. */
  findRules(
    { kind, name }: Pick<RoleRef, "kind" | "name">,
    namespace: string,
  ): readonly PolicyRule[] | undefined {
    const key = kind === "ClusterRole" ? `${CLUSTER_ROLES}${name}` : `${ROLES}${namespace}/${name}`;
    const entry = this.#store.view.get(key);
    if (entry === undefined) return undefined;
    const role = findKept(entry) as Role | ClusterRole | undefined;
    return role === undefined ? undefined : (role.rules ?? []);
  }

  #given({ binding, source }: Grant): GrantedRules {
    const { roleRef, metadata } = binding;
    const rules = this.findRules(roleRef, metadata.namespace ?? "");
    if (rules !== undefined) return { source, rules };
    return { missing: missingRole(roleRef) };
  }

  #catchUp(view: View): void {
    const [roles, clusterRoles] = [view.mark(ROLES), view.mark(CLUSTER_ROLES)];
    const isChanged = [
      roles !== this.#roles,
      clusterRoles !== this.#clusterRoles,
      this.#clusterBindings.catchUp(view),
      this.#bindings.catchUp(view),
    ];
    this.#roles = roles;
    this.#clusterRoles = clusterRoles;
    this.#view = view;
    if (isChanged.includes(true)) this.#edition += 1;
  }

  #inNamespace(namespace: string): Map<string, Set<Grant>> {
    let bySubject = this.#namespaced.get(namespace);
    if (bySubject === undefined) {
      bySubject = new Map();
      this.#namespaced.set(namespace, bySubject);
    }
    return bySubject;
  }

  #add(bySubject: Map<string, Set<Grant>>, binding: Binding): void {
    const grants = grantsOf(binding);
    this.#grants.set(placeOf(binding), grants);
    for (const [subject, grant] of grants) {
      const known = bySubject.get(subject);
      if (known === undefined) bySubject.set(subject, new Set([grant]));
      else known.add(grant);
    }
  }

  #remove(bySubject: Map<string, Set<Grant>>, binding: Binding): void {
    const place = placeOf(binding);
    for (const [subject, grant] of this.#grants.get(place) ?? []) {
      const known = bySubject.get(subject);
      known?.delete(grant);
      if (known?.size === 0) bySubject.delete(subject);
    }
    this.#grants.delete(place);
  }

  #removeNamespaced(binding: RoleBinding): void {
    const { namespace = "" } = binding.metadata;
    const bySubject = this.#namespaced.get(namespace);
    if (bySubject === undefined) return;
    this.#remove(bySubject, binding);
    if (bySubject.size === 0) this.#namespaced.delete(namespace);
  }
}

/** Text of upstream's lister. */
function missingRole({ kind, name }: Pick<RoleRef, "kind" | "name">): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}

function placeOf({ metadata: { namespace = "", name } }: Binding): string {
  return `${namespace}/${name}`;
}

function grantsOf(binding: Binding): readonly (readonly [string, Grant])[] {
  const { namespace = "" } = binding.metadata;
  return (binding.subjects ?? []).flatMap((subject) => {
    const key = subjectKey(subject, namespace);
    return key === undefined ? [] : [[key, { binding, source: sourceText(binding, subject) }] as const];
  });
}

/**
 * Key of a subject; service accounts are users. One without a namespace uses the binding's; in a ClusterRoleBinding
 * it is ignored.
 */
function subjectKey({ kind, name, namespace }: Subject, home: string): string | undefined {
  const place = namespace === undefined || namespace === "" ? home : namespace;
  switch (kind) {
    case "User":
      return `u:${name}`;
    case "Group":
      return `g:${name}`;
    case "ServiceAccount":
      return place === "" ? undefined : `u:system:serviceaccount:${place}:${name}`;
    default:
      return undefined;
  }
}

function sourceText({ kind, metadata, roleRef }: Binding, subject: Subject): string {
  const { name, namespace = "" } = metadata;
  const binding = kind === "RoleBinding" ? `${name}/${namespace}` : name;
  const place = subject.namespace === undefined || subject.namespace === "" ? namespace : subject.namespace;
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${place}` : subject.name;
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `${kind} ${JSON.stringify(binding)} of ${role} to ${subject.kind} ${JSON.stringify(who)}`;
}
