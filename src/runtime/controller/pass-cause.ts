/** The cause that the writes of a pass state. Its text is made with the first write: most passes write nothing. */
import { causeText } from "../../api/causes/cause-text.ts";
import type { Causes, ObjectName } from "../../api/causes/cause.ts";

export class PassCause {
  readonly #pass: string;
  readonly #subject: ObjectName;
  readonly #causes: Causes;
  #note: string | undefined;
  #text: string | undefined;

  constructor(pass: string, subject: ObjectName, causes: Causes) {
    this.#pass = pass;
    this.#subject = subject;
    this.#causes = causes;
  }

  set note(note: string) {
    this.#note = note;
    this.#text = undefined;
  }

  get text(): string {
    const { kept, count } = this.#causes;
    return (this.#text ??= causeText({
      pass: this.#pass,
      subject: this.#subject,
      note: this.#note,
      kept,
      count,
    }));
  }
}
