/** Turns the bytes of a terminal into keys. Sequences and characters may be split over several chunks. */

export type KeyName =
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "delete"
  | "backspace"
  | "tab"
  | "back-tab"
  | "enter"
  | "escape"
  | "interrupt"
  | "suspend"
  | "redraw"
  | "char";

export interface Key {
  readonly name: KeyName;
  /** The character; empty for other keys. */
  readonly char: string;
}

const CONTROLS: Readonly<Record<string, KeyName>> = {
  "\u0003": "interrupt",
  "\u0004": "interrupt",
  "\u0008": "backspace",
  "\u0009": "tab",
  "\u000A": "enter",
  "\u000C": "redraw",
  "\u000D": "enter",
  "\u001A": "suspend",
  "\u001B": "escape",
  "\u007F": "backspace",
};

/** By the last characters of a sequence: `ESC [ A`, `ESC O A`, `ESC [ 1 ; 5 A`, `ESC [ 3 ~`. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "back-tab",
  "1~": "home",
  "3~": "delete",
  "4~": "end",
  "5~": "page-up",
  "6~": "page-down",
  "7~": "home",
  "8~": "end",
};

const ESCAPE = "\u001B";
/** Rest of a sequence that has begun, behind its escape. */
const OPEN_SEQUENCE = /^(?:\[[0-?]*[ -/]*|O)?$/;
const SEQUENCE = /^(?:\[([0-?]*)[ -/]*([@-~])|O([ -~]))/;
/** Longer sequences are not of a keyboard. */
const SEQUENCE_MAX = 32;

export class KeyReader {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** Whether an escape has arrived that may begin a sequence. `flush` tells that it does not. */
  get isOpen(): boolean {
    return this.#rest !== "";
  }

  read(bytes: Uint8Array): readonly Key[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#rest !== "" && !this.#isWaiting()) {
      const key = this.#take();
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  /** The rest as keys, once no more bytes have come for a while. */
  flush(): readonly Key[] {
    const isEscape = this.#rest.startsWith(ESCAPE);
    this.#rest = "";
    return isEscape ? [named("escape")] : [];
  }

  #isWaiting(): boolean {
    const rest = this.#rest;
    return rest.startsWith(ESCAPE) && rest.length < SEQUENCE_MAX && OPEN_SEQUENCE.test(rest.slice(1));
  }

  /** Undefined for a sequence that is no key. */
  #take(): Key | undefined {
    const sequence = this.#rest.startsWith(ESCAPE) ? SEQUENCE.exec(this.#rest.slice(1)) : null;
    if (sequence !== null) {
      this.#rest = this.#rest.slice(1 + sequence[0].length);
      return sequenceKey(sequence);
    }
    const char = String.fromCodePoint(this.#rest.codePointAt(0) ?? 0);
    this.#rest = this.#rest.slice(char.length);
    const control = CONTROLS[char];
    if (control !== undefined) return named(control);
    return char < " " ? undefined : { name: "char", char };
  }
}

function sequenceKey([, parameters = "", last = "", single = ""]: RegExpExecArray): Key | undefined {
  const number = parameters.split(";")[0] ?? "";
  const name = SEQUENCES[last === "~" ? `${number}~` : last + single];
  return name === undefined ? undefined : named(name);
}

function named(name: KeyName): Key {
  return { name, char: "" };
}
