/** Operations on the objects of one kind. */
import { collectionPath, objectPath } from "../api/api-object.ts";
import type { ApiObject, Manifest, ObjectKey, ResourceType } from "../api/api-object.ts";
import { ApiError, badRequest, isApiError } from "../api/errors/api-error.ts";
import type { Scale } from "../api/generated/types/autoscaling-v1.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  ObjectList,
  Patch,
  PatchOptions,
  Reference,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import type { IdentifiedCaller } from "./identified-caller.ts";
import { listPages } from "./list-pages.ts";
import { patchBody, patchMediaType } from "./patch-body.ts";
import { listQuery, logQuery, readQuery, watchQuery, writeQuery } from "./query.ts";
import { Subresource } from "./subresource-client.ts";
import type { Method } from "./transport.ts";
import { WatchEvents } from "./watch-events.ts";
import {
  findNotFoundResult,
  findReadResult,
  findWriteResult,
  deleteResult,
  deleteCollectionResults,
} from "./write-result.ts";

/** Upper bound of the objects that one request deletes: of very many, it would last long and have a large response. */
const DELETED_TOGETHER = 500;

/** JSON is valid YAML. */
const APPLY_TYPE = "application/apply-patch+yaml";

export class TypedClient<T extends ApiObject> implements ResourceClient<T> {
  readonly type: ResourceType<T>;
  readonly #caller: IdentifiedCaller;

  constructor(type: ResourceType<T>, caller: IdentifiedCaller) {
    this.type = type;
    this.#caller = caller;
  }

  async get(reference: Reference<T>, options: GetOptions = {}): Promise<T> {
    const path = this.#pathOf(reference);
    const request = { method: "GET", path, query: readQuery(options), ...formOf(options) } as const;
    let value: unknown;
    try {
      value = await this.#caller.send(request, options);
    } catch (error) {
      const absent = findNotFoundResult(this.type, knownObject(reference), error);
      if (absent !== undefined) this.#caller.reportRead(absent);
      throw error;
    }
    const read = findReadResult(this.type, value);
    if (read !== undefined) this.#caller.reportRead(read);
    return value as T;
  }

  async find(reference: Reference<T>, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(reference, options);
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
      if (error.details?.name === undefined) throw notServed(this.type, error);
      return undefined;
    }
  }

  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    const path = collectionPath(this.type, options.namespace);
    const request = { method: "GET", path, query: listQuery(options), ...formOf(options) } as const;
    const list = await this.#caller.send(request, options);
    return this.#named(list as ServedList<T>);
  }

  pages(options: ListOptions = {}): AsyncIterable<ObjectList<T>> {
    return listPages(options, (page) => this.list(page));
  }

  async watch(options: WatchOptions = {}): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    const path = collectionPath(this.type, options.namespace);
    const request = { method: "GET", path, query: watchQuery(options), ...formOf(options) } as const;
    return new WatchEvents<T>(await this.#caller.watch(request, options));
  }

  async create(manifest: Manifest<T>, options: WriteOptions = {}): Promise<T> {
    const namespace = this.#namespaceOf(manifest.metadata ?? {});
    const path = collectionPath(this.type, namespace);
    const target = { name: manifest.metadata?.name, namespace };
    return this.#write({ method: "POST", path, target, body: this.#complete(manifest) }, options);
  }

  async update(object: T, options: WriteOptions = {}): Promise<T> {
    const target = this.#keyOf(object);
    const write: Write = { method: "PUT", path: this.#pathOf(object), target, body: this.#complete(object) };
    return this.#write(write, options, object);
  }

  async updateStatus(object: T, status: unknown, options: WriteOptions = {}): Promise<T> {
    const path = `${this.#pathOf(object)}/status`;
    const target = this.#keyOf(object);
    const write: Write = { method: "PUT", path, target, body: { ...this.#complete(object), status } };
    return this.#write(write, options, object);
  }

  async patch(reference: Reference<T>, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const path = this.#pathOf(reference, options.subresource);
    const write: Write = {
      method: "PATCH",
      path,
      target: this.#keyOf(reference),
      body: patchBody(patch),
      contentType: patchMediaType(patch),
    };
    return this.#write(write, options, knownObject(reference));
  }

  async apply(manifest: Manifest<T>, options: ApplyOptions = {}): Promise<T> {
    const { name = "", namespace } = manifest.metadata ?? {};
    const path = this.#pathOf({ name, namespace }, options.subresource);
    const target = this.#keyOf({ name, namespace });
    const query = options.force === true ? { force: "true" } : {};
    const fieldManager = options.fieldManager ?? this.#caller.applyManager;
    const body = this.#complete(manifest);
    return this.#write(
      { method: "PATCH", path, target, query, body, contentType: APPLY_TYPE },
      { ...options, fieldManager },
    );
  }

  async delete(reference: Reference<T>, options: DeleteOptions = {}): Promise<void> {
    const known = knownObject(reference);
    const uid = known?.metadata.uid;
    const body = deleteBody(options, uid === undefined ? {} : { uid });
    const request = { method: "DELETE", path: this.#pathOf(reference), ...body } as const;
    let value: unknown;
    try {
      value = await this.#caller.send(request, options);
    } catch (error) {
      this.#noteAbsent(known, error);
      if (options.dryRun === undefined) this.#noteFailure(this.#keyOf(reference), error);
      throw error;
    }
    if (options.dryRun !== undefined) return;
    this.#caller.reportWrite(deleteResult(this.type, { key: this.#keyOf(reference), known }, value));
  }

  async deleteCollection(options: ListOptions & DeleteOptions = {}): Promise<void> {
    if (options.limit !== undefined) {
      await this.#deletePage(options);
      return;
    }
    // The deletions themselves may push the revision of the pages out of the server's history.
    const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
    const pages = listPages({ ...options, limit: DELETED_TOGETHER }, (page) =>
      this.#deletePage({ ...rest, ...page }),
    );
    for await (const page of pages) void page;
  }

  /** Returns the deleted objects. */
  async #deletePage(options: ListOptions & DeleteOptions): Promise<ObjectList<T>> {
    const path = collectionPath(this.type, options.namespace);
    const query = listQuery(options);
    let value: unknown;
    try {
      value = await this.#caller.send({ method: "DELETE", path, query, ...deleteBody(options) }, options);
    } catch (error) {
      if (options.dryRun === undefined) this.#noteFailure({ namespace: options.namespace }, error);
      throw error;
    }
    const { items = [], metadata = { resourceVersion: "" } } = (value ?? {}) as Partial<ObjectList<T>>;
    if (options.dryRun === undefined)
      for (const written of deleteCollectionResults(this.type, items, options.propagationPolicy))
        this.#caller.reportWrite(written);
    return { items, metadata };
  }

  async scale(reference: Reference<T>, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const patch: Patch = { type: "merge", changes: { spec: { replicas } } };
    return (await this.subresource("scale").patch(reference, patch, options)) as Scale;
  }

  subresource(name: string): SubresourceClient<T> {
    return new Subresource(async ({ reference, options, ...request }) => {
      const path = this.#pathOf(reference, name);
      if (request.method === "GET") return this.#caller.send({ ...request, path }, options);
      return this.#write({ ...request, path, target: this.#keyOf(reference) }, options);
    });
  }

  async logs(reference: Reference<T>, options: LogOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const path = this.#pathOf(reference, "log");
    return this.#caller.read({ method: "GET", path, query: logQuery(options) }, options);
  }

  async #write(
    { method, path, target, query, body, contentType }: Write,
    options: WriteOptions,
    known?: T,
  ): Promise<T> {
    const fullQuery = Object.assign(writeQuery(options, this.#caller.fieldManager), query);
    const request =
      contentType === undefined
        ? { method, path, query: fullQuery, body }
        : { method, path, query: fullQuery, body, contentType };
    let value: unknown;
    try {
      value = await this.#caller.send(request, options);
    } catch (error) {
      this.#noteAbsent(known, error);
      if (options.dryRun === undefined) this.#noteFailure(target, error);
      throw error;
    }
    const written = options.dryRun === undefined ? findWriteResult(this.type, value) : undefined;
    if (written !== undefined) this.#caller.reportWrite(written);
    return value as T;
  }

  /** An error that says an object is gone counts as an observation of it. */
  #noteAbsent(known: T | undefined, error: unknown): void {
    const absent = findNotFoundResult(this.type, known, error);
    if (absent !== undefined) this.#caller.reportWrite(absent);
  }

  #noteFailure({ name, namespace = "" }: Target, error: unknown): void {
    this.#caller.reportFailure({ type: this.type, name, namespace }, error);
  }

  #keyOf(reference: Reference<T>): ObjectKey {
    const { name = "", namespace } = "metadata" in reference ? reference.metadata : reference;
    return { name, namespace: this.#namespaceOf({ namespace }) };
  }

  /** An empty name is rejected here: the path without it addresses the whole collection. */
  #pathOf(reference: Reference<T>, subresource?: string): string {
    const key = this.#keyOf(reference);
    if (!isPathPart(key.name)) {
      throw badRequest(`a ${this.type.kind} needs a name, found ${JSON.stringify(key.name)}`);
    }
    const path = objectPath(this.type, key);
    return subresource === undefined ? path : `${path}/${encodeURIComponent(subresource)}`;
  }

  #namespaceOf({ namespace = "" }: { readonly namespace?: string | undefined }): string {
    if (!this.type.namespaced) return "";
    if (namespace === "") return this.#caller.namespace;
    if (isPathPart(namespace)) return namespace;
    throw badRequest(`${JSON.stringify(namespace)} is not a valid namespace`);
  }

  #complete(manifest: object): object {
    const { apiVersion, kind } = this.type;
    return { ...manifest, apiVersion, kind };
  }

  /** Servers omit the kind of list items. */
  #named({ metadata, items }: ServedList<T>): ObjectList<T> {
    const [first] = items ?? [];
    if (items === null || first === undefined || "kind" in first) return { metadata, items: items ?? [] };
    const { apiVersion, kind } = this.type;
    return { metadata, items: items.map((item) => ({ ...item, apiVersion, kind })) };
  }
}

function knownObject<T extends ApiObject>(reference: Reference<T>): T | undefined {
  return "metadata" in reference ? reference : undefined;
}

/** Servers written in Go may return null for an empty list. */
interface ServedList<T> extends Omit<ObjectList<T>, "items"> {
  readonly items: readonly T[] | null;
}

/** Object of a write; without a name when the server generates it. */
interface Target {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

interface Write {
  readonly method: Method;
  readonly path: string;
  readonly target: Target;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** The server names the object that does not exist, unless it serves no objects at the path. */
function notServed({ apiVersion, kind, plural }: ResourceType, cause: ApiError): ApiError {
  const message = `the server does not serve the kind ${kind} of ${apiVersion} at the path of ${plural}`;
  return new ApiError("NotFound", message, { cause, ...(cause.details && { details: cause.details }) });
}

function formOf({ form }: GetOptions): { readonly form?: "metadata" } {
  return form === undefined ? {} : { form };
}

/** `.` and `..` would change the path. */
function isPathPart(text: string): boolean {
  return text !== "" && text !== "." && text !== "..";
}

function deleteBody(
  { propagationPolicy, gracePeriodSeconds, preconditions, dryRun }: DeleteOptions,
  known: { readonly uid?: string } = {},
): { readonly body?: object } {
  const required = { ...known, ...preconditions };
  const options = {
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(required).length > 0 && { preconditions: required }),
    ...(dryRun !== undefined && { dryRun: [dryRun] }),
  };
  if (Object.keys(options).length === 0) return {};
  return { body: { apiVersion: "v1", kind: "DeleteOptions", ...options } };
}
