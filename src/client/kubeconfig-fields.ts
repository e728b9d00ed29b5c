/** Reads the fields of a kubeconfig. Errors name the file and the field. */
import { isAbsolute, resolve } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import type { TextSource } from "./endpoint.ts";

/** An invalid kubeconfig. The message is one line that names the file, the field and the remedy. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

/** There is no kubeconfig at all. */
export class MissingKubeconfigError extends KubeconfigError {}

export interface FieldsPlace {
  readonly file: string;
  /** Path of the object in the file, for example `users[0].user`. */
  readonly path: string;
  /** Folder of the file. */
  readonly dir: string;
}

export class KubeconfigFields {
  readonly #value: JsonObject;
  readonly #place: FieldsPlace;

  constructor(value: JsonObject, place: FieldsPlace) {
    this.#value = value;
    this.#place = place;
  }

  /** An empty text counts as missing. */
  findText(name: string): string | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string") return value;
    throw this.wrong(name, "must be a text");
  }

  text(name: string): string {
    const text = this.findText(name);
    if (text === undefined) throw this.wrong(name, "is missing");
    return text;
  }

  isSet(name: string): boolean {
    const value = this.#value[name] ?? false;
    if (typeof value === "boolean") return value;
    throw this.wrong(name, "must be true or false");
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((item) => {
      if (typeof item === "string") return item;
      throw this.wrong(name, "must be a list of texts");
    });
  }

  listOf(name: string): readonly KubeconfigFields[] {
    return this.#list(name).map((item, index) => this.#below(`${name}[${index}]`, item));
  }

  /** Undefined when the field is missing. */
  findWithin(name: string): KubeconfigFields | undefined {
    const value = this.#value[name] ?? undefined;
    return value === undefined ? undefined : this.#below(name, value);
  }

  within(name: string): KubeconfigFields {
    return this.findWithin(name) ?? this.#below(name, {});
  }

  names(): readonly string[] {
    return Object.keys(this.#value);
  }

  /** The base64 text of `<name>-data`, or else the file of `<name>`. */
  findSource(name: string): TextSource | undefined {
    const data = this.findText(`${name}-data`);
    if (data !== undefined) return { text: this.#decoded(`${name}-data`, data) };
    return this.findFile(name);
  }

  findFile(name: string): TextSource | undefined {
    const file = this.findText(name);
    return file === undefined ? undefined : { file: this.resolved(file) };
  }

  /** Relative paths start at the folder of the kubeconfig. */
  resolved(file: string): string {
    return isAbsolute(file) ? file : resolve(this.#place.dir, file);
  }

  wrong(name: string, problem: string): KubeconfigError {
    const { file, path } = this.#place;
    return new KubeconfigError(`${file}: ${path === "" ? name : `${path}.${name}`} ${problem}`);
  }

  #decoded(name: string, data: string): string {
    const compact = data.replaceAll(/\s/g, "");
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw this.wrong(name, "must be base64");
    return Buffer.from(compact, "base64").toString("utf8");
  }

  #list(name: string): readonly unknown[] {
    const value = this.#value[name] ?? [];
    if (Array.isArray(value)) return value as readonly unknown[];
    throw this.wrong(name, "must be a list");
  }

  #below(name: string, value: unknown): KubeconfigFields {
    if (!isJsonObject(value)) throw this.wrong(name, "must be an object");
    const { path } = this.#place;
    return new KubeconfigFields(value, { ...this.#place, path: path === "" ? name : `${path}.${name}` });
  }
}
