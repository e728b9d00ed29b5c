/** Indents compact JSON. Accepts the text in parts, cut at any byte. */
import { PIECE_BYTES } from "./pieces.ts";

export function* prettyJson(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  const indenter = new Indenter();
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += PIECE_BYTES)
      yield indenter.write(part.subarray(at, at + PIECE_BYTES));
  }
}

class Indenter {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Whether the last character opened a bracket. */
  #isOpened = false;

  /** Treats each byte as one character: only ASCII matters, other bytes pass through. */
  write(part: Uint8Array): Uint8Array {
    let out = "";
    for (const character of Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1")) {
      out += this.#isInText ? this.#inText(character) : this.#outside(character);
    }
    return Buffer.from(out, "latin1");
  }

  #inText(character: string): string {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') this.#isInText = false;
    return character;
  }

  #outside(character: string): string {
    const wasOpened = this.#isOpened;
    this.#isOpened = character === "{" || character === "[";
    if (character === "}" || character === "]") {
      this.#depth -= 1;
      return wasOpened ? character : this.#line() + character;
    }
    const before = wasOpened ? this.#line() : "";
    if (this.#isOpened) this.#depth += 1;
    if (character === '"') this.#isInText = true;
    if (character === ",") return character + this.#line();
    return before + (character === ":" ? ": " : character);
  }

  #line(): string {
    return `\n${"  ".repeat(this.#depth)}`;
  }
}
