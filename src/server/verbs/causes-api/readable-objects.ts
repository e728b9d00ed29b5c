/** Decides which objects a user may see in causes: those that the user may read by name. */
import type { ObjectName } from "../../../api/causes/cause.ts";
import type { HiddenObject, ObjectReference, ShownObject } from "../../../api/causes/change.ts";
import { NOTHING_ASKED, type Authorizer } from "../../access/authz/authorizer.ts";
import type { User } from "../../request/user.ts";
import type { KeyPlace, KeyPlaces } from "./key-places.ts";

const HIDDEN: HiddenObject = { hidden: true };

/** Remembers the decisions of one request. */
export class ReadableObjects {
  readonly #authorizer: Authorizer;
  readonly #places: KeyPlaces;
  readonly #user: User;
  readonly #known = new Map<string, boolean>();

  constructor({ authorizer, places, user }: { authorizer: Authorizer; places: KeyPlaces; user: User }) {
    this.#authorizer = authorizer;
    this.#places = places;
    this.#user = user;
  }

  async mayRead({ resource: { facts }, namespace, name }: KeyPlace): Promise<boolean> {
    const { group, version, name: resource } = facts;
    const id = `${group}/${resource}/${namespace}/${name}`;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const asked = {
      ...NOTHING_ASKED,
      user: this.#user,
      verb: "get",
      group,
      version,
      resource,
      namespace,
      name,
    };
    const { outcome } = await this.#authorizer.decide(asked);
    this.#known.set(id, outcome === "allowed");
    return outcome === "allowed";
  }

  /** The object of a key; undefined for data that is no object. */
  async ofKey(key: string): Promise<ShownObject | undefined> {
    const place = this.#places.findPlace(key);
    if (place === undefined) return undefined;
    return (await this.mayRead(place)) ? referenceTo(place) : HIDDEN;
  }

  /** An object that a controller names. A kind that is not served is hidden: no rule says who may read it. */
  async ofName({ group, kind, namespace, name }: ObjectName): Promise<ShownObject> {
    const resource = this.#places.findKind(group, kind);
    if (resource === undefined) return HIDDEN;
    const place = { resource, namespace: resource.facts.namespaced ? namespace : "", name };
    return (await this.mayRead(place)) ? referenceTo(place) : HIDDEN;
  }
}

export function referenceTo({ resource: { facts }, namespace, name }: KeyPlace): ObjectReference {
  return { group: facts.group, kind: facts.kind, resource: facts.name, namespace, name };
}
