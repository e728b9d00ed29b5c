/** The scale of a custom kind: where its numbers and its selector are, and whether these have the right types. */
import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import { findFieldNames, memberAt } from "../../api/json/json-path.ts";
import { goText, goTypeName } from "../../api/patch/go-text.ts";
import type { ApiObject, Draft, ScaleRules } from "../../resources/rules/kind-rules.ts";
import type { VersionOutline } from "./custom-outline.ts";

type Names = readonly string[];

const INT32_MAX = 2 ** 31 - 1;

export class CustomScale implements ScaleRules<ApiObject> {
  readonly replicasPath: string;
  readonly #replicas: Names;
  readonly #statusReplicas: Names;
  /** Empty if the kind has no selector. */
  readonly #selector: Names;

  constructor({
    specReplicasPath,
    statusReplicasPath,
    labelSelectorPath = "",
  }: NonNullable<VersionOutline["scale"]>) {
    this.replicasPath = specReplicasPath;
    this.#replicas = findFieldNames(specReplicasPath) ?? [];
    this.#statusReplicas = findFieldNames(statusReplicasPath) ?? [];
    this.#selector = findFieldNames(labelSelectorPath) ?? [];
  }

  replicas(object: ApiObject): number | undefined {
    const value = memberAt(object, this.#replicas);
    return typeof value === "number" ? value : undefined;
  }

  statusReplicas(object: ApiObject): number {
    const value = memberAt(object, this.#statusReplicas);
    return typeof value === "number" ? value : 0;
  }

  selector(object: ApiObject): string {
    const text = this.#selector.length === 0 ? "" : memberAt(object, this.#selector);
    return typeof text === "string" ? text : "";
  }

  setReplicas(draft: Draft<ApiObject>, count: number): void {
    setMember(draft as Record<string, unknown>, this.#replicas, count);
  }

  check(object: ApiObject, errors: FieldErrors): void {
    checkNumber(object, this.#replicas, errors);
    this.checkStatus(object, errors);
  }

  /** Checks what a write of the status can change. */
  checkStatus(object: ApiObject, errors: FieldErrors): void {
    checkNumber(object, this.#statusReplicas, errors);
    if (this.#selector.length > 0) checkSelector(object, this.#selector, errors);
  }
}

function checkNumber(object: ApiObject, names: Names, errors: FieldErrors): void {
  const path = fieldPath(`.${names.join(".")}`);
  const mistake = findMistake(object, names, "int64");
  if (mistake !== undefined) return errors.invalid(path, 0, mistake);
  const value = memberAt(object, names);
  if (typeof value !== "number") return;
  if (value < 0) errors.invalid(path, value, "should be a non-negative integer");
  else if (value > INT32_MAX) errors.invalid(path, value, `should be less than or equal to ${INT32_MAX}`);
}

/** The text itself is not parsed: the reader of the scale does. */
function checkSelector(object: ApiObject, names: Names, errors: FieldErrors): void {
  const mistake = findMistake(object, names, "string");
  if (mistake !== undefined) errors.invalid(fieldPath(`.${names.join(".")}`), "", mistake);
}

/** Upstream's text for a path with another value than one of the type; undefined for a path that ends early. */
function findMistake(object: ApiObject, names: Names, type: "int64" | "string"): string | undefined {
  let at: unknown = object;
  for (const [index, name] of names.entries()) {
    if (at === undefined || at === null) return undefined;
    if (!isJsonObject(at)) return accessText(names.slice(0, index + 1), at, "map[string]interface{}");
    at = Object.hasOwn(at, name) ? at[name] : undefined;
  }
  if (at === undefined || goTypeName(at) === type) return undefined;
  return accessText(names, at, type);
}

function accessText(names: Names, value: unknown, expected: string): string {
  const type = value === null ? "<nil>" : goTypeName(value);
  return `.${names.join(".")} accessor error: ${goText(value)} is of the type ${type}, expected ${expected}`;
}

/** Creates missing objects on the path. */
function setMember(object: Record<string, unknown>, names: Names, value: unknown): void {
  let at = object;
  for (const name of names.slice(0, -1)) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined;
    const next = isJsonObject(inner) ? { ...inner } : {};
    setOwn(at, name, next);
    at = next;
  }
  setOwn(at, names.at(-1) ?? "", value);
}
