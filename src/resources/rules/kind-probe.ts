/**
 * Runs the rules of a kind on manifests as the server does. Tests of kinds use it, so that they contain
 * manifests and messages instead of drafts and error lists.
 */

import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import { freezeJson } from "../../api/json/json-freeze.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../api/schema/normal-form.ts";
import type { ApiObject, Draft, KindDefinition, KindRules, RuleContext } from "./kind-rules.ts";
import { keepParts } from "./metadata-parts.ts";

/** A manifest without apiVersion and kind, which the probe adds. */
export type Manifest = JsonObject;

const CONTEXT: RuleContext = {
  now: Date.parse("2026-01-02T03:04:05Z"),
  user: { name: "alice", uid: "u1", groups: ["system:authenticated"], extra: { "example.com/team": ["a"] } },
};

export class KindProbe {
  readonly #definition: KindDefinition;
  readonly #rules: KindRules;

  constructor(definition: KindDefinition) {
    this.#definition = definition;
    // Safe: the probe passes only values that the schema of the kind has parsed.
    this.#rules = definition.rules;
  }

  /** The manifest in normal form with defaults. */
  read(manifest: Manifest): Draft<ApiObject> & Record<string, unknown> {
    const { apiVersion, kind } = this.#definition;
    const schema = findKindSchema(apiVersion, kind);
    if (schema === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`);
    const metadata = { name: "it", ...(manifest["metadata"] as JsonObject | undefined) };
    const { value } = toNormalForm(schema, structuredClone({ apiVersion, kind, ...manifest, metadata }));
    const draft = value as Draft<ApiObject> & Record<string, unknown>;
    this.#rules.defaults?.(draft);
    return draft;
  }

  /** The object that a create stores, if it is valid. */
  created(manifest: Manifest): Draft<ApiObject> & Record<string, unknown> {
    const draft = this.read(manifest);
    // A rule replaces what it changes: the draft before it says which fields the client owns.
    for (const [key, value] of Object.entries(draft)) {
      if (key !== "metadata" && key !== "spec") freezeJson(value);
      else for (const member of Object.values(value as JsonObject)) freezeJson(member);
    }
    this.#rules.prepareCreate?.(draft, CONTEXT);
    return draft;
  }

  /** The object that an update of the main resource stores, if it is valid. */
  updated(next: Manifest, previous: Manifest): Draft<ApiObject> & Record<string, unknown> {
    const draft = this.read(next);
    this.#rules.prepareUpdate?.(draft, this.created(previous), CONTEXT);
    return draft;
  }

  /** The object that an update of the status stores, if it is valid. */
  statusUpdated(next: Manifest, previous: Manifest): Draft<ApiObject> & Record<string, unknown> {
    const draft = this.read(next);
    const before = this.read(previous);
    keepParts(draft, before, this.#rules.statusKeeps);
    this.#rules.prepareStatus?.(draft, before, CONTEXT);
    return draft;
  }

  /** All errors of a create as texts: `spec.x: Required value`. */
  problems(manifest: Manifest): readonly string[] {
    const draft = this.created(manifest);
    return texts((errors) => {
      this.#rules.validate?.(draft, errors);
      this.#rules.validateCreate?.(draft, errors);
    });
  }

  nameProblems(name: string): readonly string[] {
    return this.#rules.nameRule?.(name) ?? [];
  }

  /** Errors of an update that a create would not have. */
  updateProblems(next: Manifest, previous: Manifest): readonly string[] {
    const draft = this.updated(next, previous);
    return texts((errors) => this.#rules.validateUpdate?.(draft, this.created(previous), errors));
  }

  statusProblems(next: Manifest, previous: Manifest = next): readonly string[] {
    const draft = this.statusUpdated(next, previous);
    return texts((errors) => this.#rules.validateStatus?.(draft, this.read(previous), errors));
  }

  warnings(manifest: Manifest): readonly string[] {
    return this.#rules.warnings?.(this.created(manifest), undefined) ?? [];
  }

  updateWarnings(next: Manifest, previous: Manifest): readonly string[] {
    return this.#rules.warnings?.(this.created(next), this.created(previous)) ?? [];
  }

  fields(manifest: Manifest): Readonly<Record<string, string>> {
    return this.#rules.fields?.(this.read(manifest)) ?? {};
  }

  /** The cells of an object created two minutes and five seconds ago. */
  cells(manifest: Manifest): readonly (string | number | boolean | null)[] {
    const created = {
      ...manifest,
      metadata: {
        creationTimestamp: "2026-01-02T03:02:00Z",
        ...(manifest["metadata"] as JsonObject | undefined),
      },
    };
    return this.#rules.cells?.(this.read(created), CONTEXT.now) ?? [];
  }
}

function texts(run: (errors: FieldErrors) => void): readonly string[] {
  const errors = new FieldErrors();
  run(errors);
  return errors.found.map(fieldErrorText);
}
