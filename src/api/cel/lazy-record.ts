/** A record that computes each field on first access and keeps the result or the error. */
import { CelBudgetError, CelEvaluationError } from "./cel-error.ts";
import { CelRecord, type CelValue } from "./value.ts";

export class LazyRecord extends CelRecord {
  readonly typeName: string;
  readonly #makers: ReadonlyMap<string, () => CelValue>;
  readonly #made = new Map<string, CelValue | CelEvaluationError>();

  constructor(typeName: string, makers: ReadonlyMap<string, () => CelValue>) {
    super();
    this.typeName = typeName;
    this.#makers = makers;
  }

  find(field: string): CelValue | undefined {
    const make = this.#makers.get(field);
    if (make === undefined) return undefined;
    const made = this.#made.get(field) ?? this.#make(field, make);
    if (made instanceof CelEvaluationError) throw made;
    return made;
  }

  fields(): Iterable<string> {
    return this.#makers.keys();
  }

  /** Computes a field. The error of a failure has upstream's text. */
  #make(field: string, make: () => CelValue): CelValue | CelEvaluationError {
    let made: CelValue | CelEvaluationError;
    try {
      made = make();
    } catch (error) {
      if (error instanceof CelBudgetError || !(error instanceof CelEvaluationError)) throw error;
      made = new CelEvaluationError(
        `composited variable ${JSON.stringify(field)} fails to evaluate: ${error.message}`,
      );
    }
    this.#made.set(field, made);
    return made;
  }
}
