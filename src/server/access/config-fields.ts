/**
 * Reads the fields of a configuration file's object by name. A field of another type, or an unknown one, is an error.
 */
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";

export class Fields {
  readonly errors: FieldErrors;
  readonly #path: FieldPath;
  readonly #values: JsonObject;

  constructor(value: unknown, path: FieldPath, errors: FieldErrors) {
    this.#path = path;
    this.errors = errors;
    this.#values = isJsonObject(value) ? value : {};
    if (!isJsonObject(value)) errors.typeInvalid(path, value, "must be an object");
  }

  /** Path of a field, or of the object itself. */
  path(name?: string): FieldPath {
    return name === undefined ? this.#path : this.#path.child(name);
  }

  /** Reports unknown fields: an ignored field would be a rule without effect. */
  allow(names: readonly string[]): void {
    for (const name of Object.keys(this.#values))
      if (!names.includes(name)) this.errors.forbidden(this.path(name), "unknown field");
  }

  has(name: string): boolean {
    const value = this.#value(name);
    return value !== undefined && value !== null;
  }

  /** Empty if absent. */
  text(name: string): string {
    const value = this.#value(name) ?? "";
    if (typeof value === "string") return value;
    this.errors.typeInvalid(this.path(name), value, "must be a string");
    return "";
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === "") this.errors.required(this.path(name));
    return value;
  }

  isTrue(name: string): boolean {
    const value = this.#value(name) ?? false;
    if (typeof value !== "boolean") this.errors.typeInvalid(this.path(name), value, "must be a boolean");
    return value === true;
  }

  texts(name: string): readonly string[] {
    return this.#items(name).filter((item, at): item is string => {
      if (typeof item === "string") return true;
      this.errors.typeInvalid(this.path(name).index(at), item, "must be a string");
      return false;
    });
  }

  list(name: string): readonly Fields[] {
    return this.#items(name).map((item, at) => new Fields(item, this.path(name).index(at), this.errors));
  }

  find(name: string): Fields | undefined {
    return this.has(name) ? new Fields(this.#value(name), this.path(name), this.errors) : undefined;
  }

  /** A required object. */
  part(name: string): Fields {
    const found = this.find(name);
    if (found !== undefined) return found;
    this.errors.required(this.path(name));
    return new Fields({}, this.path(name), this.errors);
  }

  #items(name: string): readonly unknown[] {
    const value = this.#value(name) ?? [];
    if (Array.isArray(value)) return value;
    this.errors.typeInvalid(this.path(name), value, "must be a list");
    return [];
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }
}
