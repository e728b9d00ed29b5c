/**
 * The last pass of each key of a program's controllers. `settle` reads from it which controllers gave up, and which
 * ask for rechecks without end.
 */
import { errorText } from "../../base/error-text.ts";
import type { PassRecord } from "../../runtime/controller/pass-result.ts";

/** Passes in a row that asked for a recheck; fewer are ordinary progress. */
const REPEATED = 5;
/** Upper bound of the keys in an error. */
const NAMED_MAX = 3;

interface LastPass {
  readonly pass: PassRecord;
  readonly rechecks: number;
}

export class LastPasses {
  readonly #last = new Map<string, LastPass>();

  note(pass: PassRecord): void {
    // A pass that was cut off says nothing about its object.
    if (pass.result === "aborted") return;
    const id = `${pass.controller} ${pass.namespace}/${pass.name}`;
    const rechecks = pass.recheck?.timer === "progress" ? (this.#last.get(id)?.rechecks ?? 0) + 1 : 0;
    if (pass.result === "terminal" || rechecks > 0) this.#last.set(id, { pass, rechecks });
    else this.#last.delete(id);
  }

  /** Error about the objects that a controller has given up; undefined when there is none. */
  findGivenUp(): Error | undefined {
    const passes = [...this.#last.values()].map(({ pass }) => pass);
    const given = passes.filter(({ result }) => result === "terminal");
    const [first] = given;
    if (first === undefined) return undefined;
    const texts = given.map((pass) => `${subjectOf(pass)}: ${errorText(pass.error)}`);
    return new Error(
      `a controller gave up until something changes: ${named(texts)}. ` +
        'A test that expects this calls settle({ terminalFailures: "expected" })',
      { cause: first.error },
    );
  }

  /** Says which keys are checked again and again; empty when none is. */
  rechecksText(): string {
    const repeated = [...this.#last.values()].filter(({ rechecks }) => rechecks >= REPEATED);
    if (repeated.length === 0) return "";
    const texts = repeated.map(
      ({ pass, rechecks }) => `${subjectOf(pass)} (${rechecks} times, every ${pass.recheck?.afterMs} ms)`,
    );
    return `; rechecks in a row: ${named(texts)}; a recheck that repeats for ever needs timer: "periodic"`;
  }
}

function subjectOf({ controller, namespace, name }: PassRecord): string {
  return `${controller} for ${namespace === "" ? name : `${namespace}/${name}`}`;
}

function named(texts: readonly string[]): string {
  const more = texts.length - NAMED_MAX;
  return texts.slice(0, NAMED_MAX).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
