/** Reads the fields of a kubeconfig, and says of each that is wrong which one it is, in which file. */
import { isAbsolute, resolve } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import type { TextSource } from "./endpoint.ts";

/** One line that says what to correct, and where. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

export interface FieldsPlace {
  readonly file: string;
  /** Of the object in the file, such as `users[0].user`. */
  readonly path: string;
  /** Of the file. */
  readonly dir: string;
}

export class KubeconfigFields {
  readonly #value: JsonObject;
  readonly #place: FieldsPlace;

  constructor(value: JsonObject, place: FieldsPlace) {
    this.#value = value;
    this.#place = place;
  }

  /** An empty text is as good as none. */
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

  /** Undefined when it is not there. */
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

  /** Text in base64 under `<name>-data`, or in a file under `<name>`; the data wins. */
  findSource(name: string): TextSource | undefined {
    const data = this.findText(`${name}-data`);
    if (data !== undefined) return { text: this.#decoded(`${name}-data`, data) };
    return this.findFile(name);
  }

  findFile(name: string): TextSource | undefined {
    const file = this.findText(name);
    return file === undefined ? undefined : { file: this.resolved(file) };
  }

  /** Relative to the folder of the kubeconfig. */
  resolved(file: string): string {
    return isAbsolute(file) ? file : resolve(this.#place.dir, file);
  }

  wrong(name: string, what: string): KubeconfigError {
    const { file, path } = this.#place;
    return new KubeconfigError(`${file}: ${path === "" ? name : `${path}.${name}`} ${what}`);
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
