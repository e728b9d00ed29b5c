/** Reads facts for one explanation: each list and each log once. A fact that the user may not read is left out. */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { Client, ListOptions } from "../../client/client.ts";

/** Upper bound of objects of each kind. */
const READ_MAX = 500;
/** Bytes of the end of a log. */
const LOG_BYTES_MAX = 4096;

export interface ContainerRun {
  readonly key: ObjectKey;
  readonly container: string;
  /** The run before the current one. */
  readonly previous: boolean;
}

export class FactReader {
  readonly client: Client;
  readonly #lists = new Map<string, Promise<readonly ApiObject[]>>();

  constructor(client: Client) {
    this.client = client;
  }

  /** Nothing for a kind that the user may not list. */
  async list<T extends ApiObject>(type: ResourceType<T>, options: ListOptions): Promise<readonly T[]> {
    const id = `${type.apiVersion}/${type.plural} ${JSON.stringify(options)}`;
    const known = this.#lists.get(id) ?? this.#read(type, options);
    this.#lists.set(id, known);
    return (await known) as readonly T[];
  }

  async #read<T extends ApiObject>(type: ResourceType<T>, options: ListOptions): Promise<readonly T[]> {
    try {
      const { items } = await this.client(type).list({ ...options, limit: READ_MAX });
      return items;
    } catch (error) {
      if (isApiError(error, "Forbidden") || isApiError(error, "NotFound")) return [];
      throw error;
    }
  }

  /** Undefined for an empty log, and for one that cannot be read: its node may be gone. */
  async lastLine({ key, container, previous }: ContainerRun): Promise<string | undefined> {
    try {
      const decoder = new TextDecoder();
      let text = "";
      const options = { container, previous, tailLines: 5, limitBytes: LOG_BYTES_MAX };
      for await (const bytes of await this.client(Pod).logs(key, options))
        text += decoder.decode(bytes, { stream: true });
      return text
        .split("\n")
        .map((line) => line.trim())
        .findLast((line) => line !== "");
    } catch (error) {
      if (error instanceof Error && isApiError(error)) return undefined;
      throw error;
    }
  }
}
