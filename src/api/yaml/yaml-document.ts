/** A YAML file that a program edits: comments, order and everything else that it does not touch stay. */
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { Document } from "yaml";

let loaded: typeof Yaml | undefined;

/** Loads the package with the first text: loading takes 20 ms. */
function yaml(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)("yaml") as typeof Yaml);
}

/** A mapping with keys of text. The text is the user's own file; the caller bounds its size. */
export class YamlDocument {
  readonly #document: Document;

  /** Throws a SyntaxError with the line of the mistake. */
  constructor(text: string) {
    const { Document, LineCounter, parseAllDocuments } = yaml();
    const lineCounter = new LineCounter();
    const options = { lineCounter, prettyErrors: false, logLevel: "silent" } as const;
    const documents: readonly Document.Parsed[] = [...parseAllDocuments(text, options)];
    const [first, second] = documents;
    if (second !== undefined) throw new SyntaxError("expected one YAML document, found several");
    const error = first?.errors[0];
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new SyntaxError(`line ${String(line)}: ${error.message}`, { cause: error });
    }
    this.#document = first ?? new Document({});
  }

  /** The whole document as plain data; null when it is empty. */
  get value(): unknown {
    return this.#document.toJS({ maxAliasCount: 1000 }) as unknown;
  }

  set(key: string, value: unknown): void {
    this.#document.set(key, this.#document.createNode(value));
  }

  delete(key: string): void {
    this.#document.delete(key);
  }

  /** Adds an item to a list, which is made when it is missing or null. */
  append(key: string, item: unknown): void {
    const list = this.#document.get(key);
    if (yaml().isSeq(list)) list.add(this.#document.createNode(item));
    else this.set(key, [item]);
  }

  /** Removes the items of a list that `isRemoved` picks by their position. */
  removeItems(key: string, isRemoved: (at: number) => boolean): void {
    const list = this.#document.get(key);
    if (yaml().isSeq(list)) list.items = list.items.filter((_, at) => !isRemoved(at));
  }

  /** Lines may have any length; lists are indented as kubectl writes them. */
  toString(): string {
    return this.#document.toString({ lineWidth: 0, indentSeq: false });
  }
}
