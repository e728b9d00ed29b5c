/** Values of literals. Each function throws a SyntaxError for an invalid literal. */
import { Bytes, Uint } from "./value.ts";

const SHORT_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["a", 0x07],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
  ["v", 0x0b],
  ["\\", 0x5c],
  ["?", 0x3f],
  ['"', 0x22],
  ["'", 0x27],
  ["`", 0x60],
]);
const ESCAPE =
  /\\(?:([xX])([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([abfnrtv\\?"'`])|([^]?))/g;

export function intOf(text: string): bigint {
  const value = BigInt(text);
  if (BigInt.asIntN(64, value) !== value) throw new SyntaxError("invalid int literal");
  return value;
}

export function uintOf(text: string): Uint {
  const value = BigInt(text.slice(0, -1));
  if (BigInt.asUintN(64, value) !== value) throw new SyntaxError("invalid uint literal");
  return new Uint(value);
}

export function doubleOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new SyntaxError("invalid double literal");
  return value;
}

export function stringOf(text: string): string {
  const { isRaw, inner } = unquoted(text);
  return isRaw ? inner : inner.replaceAll(ESCAPE, (...found: string[]) => characterOf(escapedCode(found)));
}

/** Bytes of a literal. Escapes up to `\xff` are bytes; other escapes and all other characters are written in UTF-8. */
export function bytesOf(text: string): Bytes {
  const { isRaw, inner } = unquoted(text);
  if (isRaw) return new Bytes(Buffer.from(inner));
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const found of inner.matchAll(ESCAPE)) {
    parts.push(Buffer.from(inner.slice(end, found.index)));
    if (found[3] !== undefined || found[4] !== undefined) throw new SyntaxError("invalid bytes literal");
    parts.push(Uint8Array.of(escapedCode(found)));
    end = found.index + found[0].length;
  }
  parts.push(Buffer.from(inner.slice(end)));
  return new Bytes(Buffer.concat(parts));
}

function unquoted(text: string): { readonly isRaw: boolean; readonly inner: string } {
  const [prefix = ""] = /^[a-zA-Z]*/.exec(text) ?? [];
  const body = text.slice(prefix.length);
  const quotes = body.length >= 6 && (body.startsWith('"""') || body.startsWith("'''")) ? 3 : 1;
  return { isRaw: /[rR]/.test(prefix), inner: body.slice(quotes, -quotes) };
}

function escapedCode(found: readonly (string | undefined)[]): number {
  const [, , hex, short, long, octal, simple] = found;
  const digits = hex ?? short ?? long;
  if (digits !== undefined) return Number.parseInt(digits, 16);
  if (octal !== undefined) return Number.parseInt(octal, 8);
  const code = SHORT_ESCAPES.get(simple ?? "");
  if (code === undefined) throw new SyntaxError("unable to unescape string");
  return code;
}

function characterOf(code: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new SyntaxError("invalid unicode code point");
  return String.fromCodePoint(code);
}
