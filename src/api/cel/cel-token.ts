/** Tokenizer: splits the source of an expression into tokens. */
import type { CelIssue } from "./cel-error.ts";

export type TokenKind =
  | "identifier"
  | "quoted"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "sign"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly at: number;
}

/** Space between tokens: blanks and comments. */
const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
/** A field name in back-ticks, which need not be an identifier. */
const QUOTED = /`[A-Za-z0-9_.\-/ ]+`/y;
const DOUBLE = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const INTEGER = /(?:0[xX][0-9a-fA-F]+|\d+)([uU])?/y;
const SIGN = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;
/**
 * Start of a string literal, triple quotes first. Raw literals have no escapes. A literal in single quotation marks ends
 * with its line.
 */
const TEXT = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y;
/** An invalid token, for the error message: it extends to the first character that rules out every token. */
const INVALID_TOKEN = /[=&|].?|["'][^\r\n]*|./suy;

/** Tokens of the source. Never throws; the issue is the first invalid token. */
export function tokenize(source: string): { readonly tokens: readonly Token[]; readonly issue?: CelIssue } {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += matchAt(SPACE, source, at).length;
    if (at >= source.length) break;
    const token = nextToken(source, at);
    if (token === undefined) {
      const found = matchAt(INVALID_TOKEN, source, at);
      tokens.push({ kind: "end", text: "<EOF>", at });
      return { tokens, issue: { at, message: `Syntax error: token recognition error at: '${found}'` } };
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: "end", text: "<EOF>", at });
  return { tokens };
}

function nextToken(source: string, at: number): Token | undefined {
  const text = textAt(source, at);
  if (text !== "") return { kind: /^[rR]?[bB]/.test(text) ? "bytes" : "string", text, at };
  for (const [kind, pattern] of WORDS) {
    const found = matchAt(pattern, source, at);
    if (found !== "") return { kind: kind === "int" && /[uU]$/.test(found) ? "uint" : kind, text: found, at };
  }
  return undefined;
}

const WORDS: readonly (readonly [TokenKind, RegExp])[] = [
  ["identifier", IDENTIFIER],
  ["quoted", QUOTED],
  ["double", DOUBLE],
  ["int", INTEGER],
  ["sign", SIGN],
];

/** A whole string literal; empty when there is none or it is not closed. */
function textAt(source: string, at: number): string {
  const opening = matchAt(TEXT, source, at);
  if (opening === "") return "";
  const isRaw = /^[bB]?[rR]/.test(opening);
  const quote = opening.replace(/^[a-zA-Z]*/, "");
  for (let end = at + opening.length; end < source.length; end++) {
    if (source.startsWith(quote, end)) return source.slice(at, end + quote.length);
    const code = source.charCodeAt(end);
    if (quote.length === 1 && (code === 0x0a || code === 0x0d)) return "";
    if (code === 0x5c && !isRaw) end += 1;
  }
  return "";
}

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? "";
}
