/**
 * Reads YAML as kubectl and kube-apiserver read it. The package only builds the syntax tree; meaning (scalars, keys,
 * merges, aliases) is given here, so that every bound is ours.
 */

import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { CST, Document, LineCounter, Pair, Scalar, YAMLMap } from "yaml";
import { setOwn } from "../json/json-object.ts";
import { JSON_DEPTH_MAX, JSON_TOKENS_MAX, parseJson } from "../json/json-scan.ts";
import { quoted } from "../values/message-text.ts";
import { TooLargeError } from "../work-budget.ts";
import type { YamlScalar } from "./yaml-scalar.ts";
import { resolveYamlScalar } from "./yaml-scalar.ts";

/** Long texts are cheap, but not free. JSON under a YAML media type has the bounds of JSON instead. */
export const YAML_BYTES_MAX = 512 * 1024;

/** A lexeme costs the package 1 to 2 µs; an ordinary line of a manifest has nine. */
const LEXEMES_MAX = 40_000;

/**
 * The package recurses when it composes, and running out of stack inside a regular expression ends the process: this
 * must be found before.
 */
const NESTING_MAX = 250;

/** Costs more than anything else in a stream, and one is all that anybody writes. */
const DIRECTIVES_MAX = 10;

let loaded: typeof Yaml | undefined;

/** Takes 20 ms to load, and many programs never see any YAML: it is loaded with the first text. */
function yaml(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)("yaml") as typeof Yaml);
}

export interface ParsedYaml {
  readonly value: unknown;
  /** `line 9: key "foo" already set in map`; the last value won. */
  readonly duplicates: readonly string[];
}

export interface YamlOptions {
  /** How many aliases may be followed. None by default: the server has no use for them, an attacker has. */
  readonly maxAliases?: number;
  readonly maxBytes?: number;
}

/** Throws a SyntaxError for what is not one YAML document and a RangeError for what exceeds a bound, a TooLargeError where that is its size. */
export function parseYaml(bytes: Uint8Array, options: YamlOptions = {}): ParsedYaml {
  const { maxAliases = 0, maxBytes = YAML_BYTES_MAX } = options;
  const json = findJson(bytes);
  if (json !== undefined) return json;
  if (bytes.length > maxBytes) throw new TooLargeError(`YAML of more than ${maxBytes} bytes`);
  if (!isUtf8(bytes)) throw new SyntaxError("yaml: invalid leading UTF-8 octet");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  // All control characters but tab, line ends and the ones of Latin 1, which YAML has no quarrel with.
  if (/(?![\t\n\r\x80-\x9f])\p{Cc}/u.test(text)) {
    throw new SyntaxError("yaml: control characters are not allowed");
  }
  const { LineCounter } = yaml();
  const lines = new LineCounter();
  const document = composed(text, lines);
  return new YamlReader(lines, maxAliases).read(document);
}

/** Most bodies of a YAML media type are JSON; undefined when this one is not. */
function findJson(bytes: Uint8Array): ParsedYaml | undefined {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== 0x7b && first !== 0x5b) return undefined;
  try {
    const { value, duplicates } = parseJson(bytes);
    return { value, duplicates: duplicates.map((path) => `key ${quoted(path)} already set in map`) };
  } catch (error) {
    // The flow style of YAML looks like JSON without its quotes.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function composed(text: string, lines: LineCounter): Document.Parsed | undefined {
  const { Composer } = yaml();
  const composer = new Composer({
    lineCounter: lines,
    // Only maps, lists and strings: what a string means is decided by the reader.
    schema: "failsafe",
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const tokens = syntaxTokens(text, lines);
  const [document] = composer.compose(tokens, true, text.length);
  const error = document?.errors[0];
  if (error === undefined) return document;
  throw new SyntaxError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`, { cause: error });
}

/** The concrete syntax, of one document, within the bounds. */
function syntaxTokens(text: string, lines: LineCounter): readonly CST.Token[] {
  const { Lexer, Parser } = yaml();
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    if (++lexemes > LEXEMES_MAX) throw new TooLargeError(`YAML of more than ${LEXEMES_MAX} lexemes`);
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > NESTING_MAX) throw new RangeError(`nested deeper than ${NESTING_MAX} levels`);
  }
  tokens.push(...parser.end());
  const directives = tokens.filter((token) => token.type === "directive").length;
  if (directives > DIRECTIVES_MAX) throw new RangeError(`more than ${DIRECTIVES_MAX} YAML directives`);
  if (tokens.filter((token) => token.type === "document").length > 1) {
    throw new SyntaxError("expected one YAML document, found several");
  }
  return tokens;
}

type YamlValue = YamlScalar | object;

/** More than anybody reads. A map with a long key that is there twice may be named by thousands of aliases, and is read for each. */
const DUPLICATE_CHARS_MAX = 256 * 1024;

class YamlReader {
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, unknown>();
  readonly #duplicates: string[] = [];
  #aliasesLeft: number;
  #nodesLeft = JSON_TOKENS_MAX;
  #duplicateCharsLeft = DUPLICATE_CHARS_MAX;

  constructor(lines: LineCounter, maxAliases: number) {
    this.#lines = lines;
    this.#aliasesLeft = maxAliases;
  }

  read(document: Document.Parsed | undefined): ParsedYaml {
    const value = this.#value(document?.contents, 0);
    return { value, duplicates: this.#duplicates };
  }

  /** Aliases are read anew each time, so that they count as often as they are used and nothing is shared. */
  #value(node: unknown, depth: number): YamlValue {
    if (depth > JSON_DEPTH_MAX) throw new RangeError(`nested deeper than ${JSON_DEPTH_MAX} levels`);
    const { isAlias, isScalar, isMap, isSeq } = yaml();
    if (--this.#nodesLeft < 0) throw new TooLargeError(`more than ${JSON_TOKENS_MAX} tokens`);
    if (isAlias(node)) return this.#value(this.#aliased(node.source), depth + 1);
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return null;
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return scalarValue(node);
    if (isMap(node)) return this.#map(node, depth);
    return node.items.map((item) => this.#value(item, depth + 1));
  }

  #aliased(name: string): unknown {
    if (--this.#aliasesLeft < 0) throw new RangeError("too many YAML aliases");
    if (!this.#anchors.has(name)) throw new SyntaxError(`yaml: unknown anchor '${name}' referenced`);
    return this.#anchors.get(name);
  }

  #map(map: YAMLMap, depth: number): object {
    const object = {};
    const own = new Set<string>();
    for (const pair of map.items) {
      const key = this.#key(pair, depth);
      if (key === undefined) {
        this.#merge(this.#value(pair.value, depth + 1), object, own);
        continue;
      }
      if (own.has(key.name)) this.#noteDuplicate(pair, key.shown);
      own.add(key.name);
      setOwn(object, key.name, this.#value(pair.value, depth + 1));
    }
    return object;
  }

  #noteDuplicate(pair: Pair, key: string): void {
    if (this.#duplicateCharsLeft <= 0) return;
    const text = `line ${this.#lineOf(pair)}: key ${key} already set in map`;
    this.#duplicateCharsLeft -= text.length;
    this.#duplicates.push(text);
  }

  /** Undefined for the merge key. */
  #key(pair: Pair, depth: number): { readonly name: string; readonly shown: string } | undefined {
    const { key } = pair;
    if (yaml().isScalar(key) && key.type === "PLAIN" && key.value === "<<") return undefined;
    const value = this.#value(key, depth + 1);
    if (typeof value === "string") return { name: value, shown: quoted(value) };
    if (value !== null && typeof value !== "object") return { name: `${value}`, shown: `${value}` };
    const type = value === null ? "nil" : "map";
    throw new SyntaxError(`yaml: line ${this.#lineOf(pair)}: unsupported map key of type: ${type}`);
  }

  /** Keys that the map itself has are stronger, wherever they stand. */
  #merge(source: unknown, object: Record<string, unknown>, own: ReadonlySet<string>): void {
    const sources: readonly unknown[] = Array.isArray(source) ? source : [source];
    for (const merged of [...sources].reverse()) {
      if (typeof merged !== "object" || merged === null || Array.isArray(merged)) {
        throw new SyntaxError("yaml: map merge requires map or sequence of maps as the value");
      }
      for (const [key, value] of Object.entries(merged)) {
        if (!own.has(key)) setOwn(object, key, value);
      }
    }
  }

  #lineOf(pair: Pair): number {
    const range = yaml().isScalar(pair.key) ? pair.key.range : undefined;
    return range ? this.#lines.linePos(range[0]).line : 0;
  }
}

function scalarValue(node: Scalar): YamlScalar {
  const text = node.source ?? "";
  switch (node.tag?.replace("tag:yaml.org,2002:", "")) {
    case undefined:
      return node.type === "PLAIN" ? jsonable(resolveYamlScalar(text)) : text;
    case "binary":
      return Buffer.from(text, "base64").toString("utf8");
    case "bool":
    case "float":
    case "int":
    case "null":
      return jsonable(resolveYamlScalar(text));
    default:
      return text;
  }
}

function jsonable(value: YamlScalar): YamlScalar {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new SyntaxError(
    `json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`,
  );
}
