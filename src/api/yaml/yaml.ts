/**
 * Parses YAML as kubectl and kube-apiserver do. The package `yaml` only builds the syntax tree. Scalars, keys, merges
 * and aliases are resolved here, so that every bound is enforced here.
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

/** Bounds the parsing time of long texts. JSON under a YAML media type has the bounds of JSON instead. */
export const YAML_BYTES_MAX = 512 * 1024;

/** The package spends 1 to 2 µs on a lexeme; an ordinary line of a manifest has nine. */
const LEXEMES_MAX = 40_000;

/**
 * The package's composer is recursive, and a stack overflow inside a regular expression ends the process. The reader
 * checks the nesting first.
 */
const NESTING_MAX = 250;

/** Directives cost more than any other part of a stream; real documents have at most one. */
const DIRECTIVES_MAX = 10;

let loaded: typeof Yaml | undefined;

/** Loads the package with the first text: loading takes 20 ms, and many programs never parse YAML. */
function yaml(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)("yaml") as typeof Yaml);
}

export interface ParsedYaml {
  readonly value: unknown;
  /** Example: `line 9: key "foo" already set in map`. The last value wins. */
  readonly duplicates: readonly string[];
}

export interface YamlOptions {
  /** Maximum number of aliases followed; 0 by default, because clients do not need them and attackers do. */
  readonly maxAliases?: number;
  readonly maxBytes?: number;
}

/**
 * Throws a SyntaxError unless the bytes are one YAML document. Throws a TooLargeError for a document over the bounds of
 * size, and a RangeError for one over the other bounds.
 */
export function parseYaml(bytes: Uint8Array, options: YamlOptions = {}): ParsedYaml {
  const { maxAliases = 0, maxBytes = YAML_BYTES_MAX } = options;
  const json = findJson(bytes);
  if (json !== undefined) return json;
  if (bytes.length > maxBytes) throw new TooLargeError(`YAML of more than ${maxBytes} bytes`);
  if (!isUtf8(bytes)) throw new SyntaxError("yaml: invalid leading UTF-8 octet");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  // All control characters except tab, line ends and those of Latin 1, which YAML allows.
  if (/(?![\t\n\r\x80-\x9f])\p{Cc}/u.test(text)) {
    throw new SyntaxError("yaml: control characters are not allowed");
  }
  const { LineCounter } = yaml();
  const lines = new LineCounter();
  const document = composed(text, lines);
  return new YamlReader(lines, maxAliases).read(document);
}

/** Parses the text as JSON, which most bodies of a YAML media type are. Undefined if it is not JSON. */
function findJson(bytes: Uint8Array): ParsedYaml | undefined {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== 0x7b && first !== 0x5b) return undefined;
  try {
    const { value, duplicates } = parseJson(bytes);
    return { value, duplicates: duplicates.map((path) => `key ${quoted(path)} already set in map`) };
  } catch (error) {
    // YAML in flow style begins like JSON.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function composed(text: string, lines: LineCounter): Document.Parsed | undefined {
  const { Composer } = yaml();
  const composer = new Composer({
    lineCounter: lines,
    // Maps, lists and strings only: YamlReader resolves scalars itself.
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

/** Concrete syntax of one document, within the bounds. */
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

/**
 * Bounds the warnings. Thousands of aliases may refer to a map with a long duplicate key; each of them reports the key
 * again.
 */
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

  /**
   * Reads the target of an alias again for each use, so that each use counts toward the bounds and values share no
   * objects.
   */
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

  /** Undefined for the merge key `<<`. */
  #key(pair: Pair, depth: number): { readonly name: string; readonly shown: string } | undefined {
    const { key } = pair;
    if (yaml().isScalar(key) && key.type === "PLAIN" && key.value === "<<") return undefined;
    const value = this.#value(key, depth + 1);
    if (typeof value === "string") return { name: value, shown: quoted(value) };
    if (value !== null && typeof value !== "object") return { name: `${value}`, shown: `${value}` };
    const type = value === null ? "nil" : "map";
    throw new SyntaxError(`yaml: line ${this.#lineOf(pair)}: unsupported map key of type: ${type}`);
  }

  /** The map's own keys win over merged keys, whatever their order. */
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
