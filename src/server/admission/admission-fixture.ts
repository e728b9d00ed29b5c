/**
 * Test fixture for admission without a server: stored objects, and requests that pass the plugins but are not carried
 * out.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { kinds } from "../../resources/index.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { alwaysAllow } from "../access/authz/always-allow.ts";
import type { Authorizer } from "../access/authz/authorizer.ts";
import { RoleIndex } from "../access/authz/rbac/role-index.ts";
import { encodeObject } from "../objects/object-encoder.ts";
import { isStored, Registry } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import { keyOf } from "../objects/versions.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { normal } from "../write/incoming.ts";
import type { Admission } from "./admission.ts";
import type { Operation } from "./plugin.ts";
import { builtInAdmission } from "./plugins.ts";
import type { AdmissionOptions } from "./plugins.ts";

/** An object as a test writes it. */
export interface Written {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface TestedWrite {
  readonly operation: Operation;
  /** `pods`, `pods/status`, `leases.coordination.k8s.io`. */
  readonly resource: string;
  readonly user?: Requester;
  /** The new object; for a DELETE the deleted one. */
  readonly object: Written;
  /** The stored object before an UPDATE. */
  readonly previous?: Written;
}

export interface AdmissionOutcome {
  /** Empty if the request was admitted. */
  readonly refusal: string;
  readonly code: number;
  readonly object: ApiObject;
  readonly notes: RequestNotes;
}

const ANYBODY: Requester = { name: "alice", uid: "", groups: ["system:authenticated"], extra: {} };

export class AdmissionFixture {
  readonly #registry = new Registry(kinds, () => true);
  readonly #store: Store;
  readonly #admission: Admission;

  constructor(options: AdmissionOptions = {}, authorizer: Authorizer = alwaysAllow) {
    const loop = createRealLoop({ name: "test" });
    this.#store = openMemoryStore({ loop: loop.child("store") });
    const disabled = ["ServiceAccount", "NamespaceLifecycle", ...(options.disabled ?? [])];
    this.#admission = builtInAdmission(
      {
        loop,
        store: this.#store,
        registry: this.#registry,
        authorizer,
        roles: new RoleIndex(this.#store),
      },
      { ...options, disabled },
    );
  }

  /** Stores an object without admission. */
  async put(resource: string, object: Written): Promise<void> {
    const stored = this.#find(resource, object.apiVersion);
    const { name, namespace = "" } = object.metadata;
    const metadata = { uid: `u-${name}`, ...object.metadata };
    const { bytes } = encodeObject(normalForm(stored, { ...object, metadata }));
    const key = keyOf(stored, namespace, name);
    await this.#store.write({ compare: [], changes: [{ type: "put", key, value: bytes }] });
  }

  async attempt({
    operation,
    resource: path,
    user = ANYBODY,
    object,
    previous,
  }: TestedWrite): Promise<AdmissionOutcome> {
    const [name = "", subresource = ""] = path.split("/").length > 1 ? splitPath(path) : [path];
    const resource = this.#find(name, object.apiVersion);
    const notes = new RequestNotes();
    const { name: objectName, namespace = "" } = object.metadata;
    const place = { resource, subresource, namespace, name: objectName };
    const asked = { ...place, operation, verb: operation.toLowerCase(), user, notes, isDryRun: false };
    const pass = this.#admission.pass(asked);
    const draft = subresourceForm(resource, object, subresource);
    const before = previous === undefined ? undefined : normalForm(resource, previous);
    try {
      if (operation === "DELETE") await pass?.judge(draft);
      else await pass?.admit(draft, before);
      return { refusal: "", code: 200, object: draft, notes };
    } catch (error) {
      if (!isApiError(error)) throw error;
      return { refusal: error.message, code: error.code, object: draft, notes };
    }
  }

  #find(path: string, apiVersion: string): StoredResource {
    const [name = ""] = path.split(".");
    const group = path.slice(name.length + 1);
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const place = [{ version }, { version: "v1" }].map((each) => ({ group, resource: name, ...each }));
    const found = place.map((each) => this.#registry.find(each)).find((each) => each !== undefined);
    if (found === undefined || !isStored(found)) throw new Error(`${path} are not served`);
    return found;
  }
}

function splitPath(path: string): readonly string[] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, slash), path.slice(slash + 1)];
}

function normalForm({ schema }: StoredResource, object: Written): ApiObject {
  return normal(schema, object).value as ApiObject;
}

/** Some subresources take objects of another kind. */
function subresourceForm(resource: StoredResource, object: Written, subresource: string): Draft<ApiObject> {
  const isOwnKind = object.kind === resource.facts.kind || subresource === "";
  return (isOwnKind ? normalForm(resource, object) : structuredClone(object)) as Draft<ApiObject>;
}
