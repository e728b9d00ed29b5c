/**
 * Parses JSON exactly: int64 is kept exact, and duplicate keys are reported with their path. Slower than JSON.parse.
 * The text must have passed JSON.parse and have bounded depth, so the reader does not check the grammar.
 */
import { setOwn } from "./json-object.ts";

/** Upstream's limit. */
const DUPLICATES_MAX = 100;

/** A sign and 19 digits; a longer text is not an int64. */
const INT64_LENGTH = 20;

const BLANKS = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;

export class ExactJsonReader {
  readonly #text: string;
  #at = 0;
  readonly #path: (string | number)[] = [];
  readonly #duplicates = new Set<string>();

  readonly #want: "value" | "duplicates";

  /** With "duplicates", the reader builds no objects. */
  constructor(text: string, want: "value" | "duplicates") {
    this.#text = text;
    this.#want = want;
  }

  read(): { readonly value: unknown; readonly duplicates: readonly string[] } {
    const value = this.#value();
    return { value, duplicates: [...this.#duplicates] };
  }

  #value(): unknown {
    this.#skip();
    switch (this.#text.charAt(this.#at)) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      default:
        return scalarValue(this.#scalar());
    }
  }

  #object(): object {
    const object = {};
    const seen = new Set<string>();
    this.#at++;
    for (;;) {
      this.#skip();
      if (this.#takes("}")) return object;
      this.#takes(",");
      this.#skip();
      const key = this.#string();
      this.#skip();
      this.#takes(":");
      this.#path.push(key);
      if (seen.has(key)) this.#reportDuplicate();
      seen.add(key);
      const value = this.#value();
      if (this.#want === "value") setOwn(object, key, value);
      this.#path.pop();
    }
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    this.#at++;
    for (;;) {
      this.#skip();
      if (this.#takes("]")) return array;
      this.#takes(",");
      this.#path.push(array.length);
      array.push(this.#value());
      this.#path.pop();
    }
  }

  #string(): string {
    const start = this.#at;
    const end = this.#text.indexOf('"', start + 1);
    const plain = this.#text.slice(start + 1, end);
    if (!plain.includes("\\")) {
      this.#at = end + 1;
      return plain;
    }
    return String(JSON.parse(this.#match(STRING)));
  }

  #scalar(): string {
    const start = this.#at;
    // Scalars consist of `+` and characters above `,`, except `]` and `}`.
    let code = this.#text.charCodeAt(++this.#at);
    while ((code > 0x2c && code !== 0x5d && code !== 0x7d) || code === 0x2b) {
      code = this.#text.charCodeAt(++this.#at);
    }
    return this.#text.slice(start, this.#at);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #skip(): void {
    // Fast path: most texts have no blanks between tokens.
    if (this.#text.charCodeAt(this.#at) > 0x20) return;
    this.#match(BLANKS);
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #reportDuplicate(): void {
    if (this.#duplicates.size >= DUPLICATES_MAX) return;
    const path = this.#path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    this.#duplicates.add(path.replace(/^\./, ""));
  }
}

function scalarValue(text: string): unknown {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  if (!Number.isFinite(number)) {
    // Upstream's message shows the number, which may be the content of a Secret.
    throw new SyntaxError("json: cannot unmarshal number into Go value of type float64");
  }
  if (text.length > INT64_LENGTH || !/^-?[0-9]+$/.test(text)) return number;
  const exact = BigInt(text);
  return BigInt.asIntN(64, exact) === exact ? exact : number;
}
