/**
 * Rewrites links in a page while it is streamed, because a pod's `/style.css` has another path behind the proxy. All other bytes stay
 * the same. The rewriter finds only tags and does not parse the page, so that it buffers little.
 */

/** Link attributes by element (HTML 4.01, index of attributes, and the HTML standard's). */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["formaction", "src", "usemap"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
};

/** Elements in which only their own end tag is a tag. */
const TEXT_ONLY: ReadonlySet<string> = new Set([
  "iframe",
  "noembed",
  "noframes",
  "script",
  "style",
  "textarea",
  "title",
  "xmp",
]);

/** Longer tags pass as text, so that the pod does not control how much the server buffers. */
const TAG_CHARS_MAX = 8192;

const COMMENT = "<!--";
const COMMENT_END = "-->";
const TAG_NAME = /^<([a-z][^\s/>]*)/i;
/** The name with the equals sign, and the value. */
const ATTRIBUTE = /([\s/"'][^\s/>="']+\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)/g;

/** Works on `latin1` text, one character per byte. Tags are ASCII in every encoding of a page. */
export class PageLinks {
  readonly #relink: (link: string) => string;
  /** Start of a tag or comment whose end has not arrived yet. */
  #held = "";
  /** End marker of a stretch without tags, such as a comment or script. */
  #until: string | undefined;

  constructor(relink: (link: string) => string) {
    this.#relink = relink;
  }

  /** Returns the output for the input so far, except for an incomplete tag. */
  push(text: string): string {
    const all = this.#held + text;
    let given = "";
    let at = 0;
    for (;;) {
      const piece = this.#until === undefined ? this.#piece(all, at) : this.#hidden(all, at, this.#until);
      given += piece.given;
      at = piece.next;
      if (piece.isLast) break;
    }
    this.#held = all.slice(at);
    return given;
  }

  /** Returns the rest when the input ends. */
  finish(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }

  /** Text up to and including the next tag. */
  #piece(all: string, from: number): Piece {
    const open = all.indexOf("<", from);
    if (open < 0) return { given: all.slice(from), next: all.length, isLast: true };
    const before = all.slice(from, open);
    const waiting: Piece = { given: before, next: open, isLast: true };
    const passing: Piece = { given: `${before}<`, next: open + 1, isLast: false };
    if (COMMENT.startsWith(all.slice(open, open + COMMENT.length))) {
      if (all.length < open + COMMENT.length) return waiting;
      this.#until = COMMENT_END;
      return passing;
    }
    if (!/[a-z]/i.test(all.charAt(open + 1))) return passing;
    const end = tagEnd(all, open);
    if (end === undefined && all.length - open < TAG_CHARS_MAX) return waiting;
    if (end === undefined) {
      const next = open + TAG_CHARS_MAX;
      return { given: all.slice(from, next), next, isLast: false };
    }
    return { given: before + this.#tag(all.slice(open, end)), next: end, isLast: false };
  }

  /** Text in which tags do not count, up to and including its end marker. */
  #hidden(all: string, from: number, until: string): Piece {
    const end = indexOfName(all, until, from);
    if (end === undefined) {
      const next = Math.max(from, all.length - until.length + 1);
      return { given: all.slice(from, next), next, isLast: true };
    }
    this.#until = undefined;
    const next = end + until.length;
    return { given: all.slice(from, next), next, isLast: false };
  }

  #tag(tag: string): string {
    const name = (TAG_NAME.exec(tag)?.[1] ?? "").toLowerCase();
    if (TEXT_ONLY.has(name)) this.#until = `</${name}`;
    const links = Object.hasOwn(LINKS, name) ? LINKS[name] : undefined;
    if (links === undefined) return tag;
    return tag.replace(ATTRIBUTE, (all, lead: string, value: string) => {
      const attribute = lead.slice(1, lead.indexOf("=")).trimEnd();
      return links.includes(attribute.toLowerCase()) ? lead + this.#value(value) : all;
    });
  }

  #value(value: string): string {
    const quote = value.startsWith('"') || value.startsWith("'") ? value.charAt(0) : "";
    return quote + this.#relink(value.slice(quote.length, value.length - quote.length)) + quote;
  }
}

interface Piece {
  readonly given: string;
  readonly next: number;
  /** Set when more input is needed. */
  readonly isLast: boolean;
}

/** Index behind the closing `>` of the tag; a quoted one does not count. Undefined if there is none within the limit. */
function tagEnd(all: string, open: number): number | undefined {
  const limit = Math.min(all.length, open + TAG_CHARS_MAX);
  let quote = "";
  for (let at = open; at < limit; at++) {
    const character = all.charAt(at);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return at + 1;
    else if ((character === '"' || character === "'") && /[=\s]/.test(all.charAt(at - 1))) quote = character;
  }
  return undefined;
}

/** Element names are case-insensitive. */
function indexOfName(all: string, name: string, from: number): number | undefined {
  for (let at = all.indexOf(name.charAt(0), from); at >= 0; at = all.indexOf(name.charAt(0), at + 1))
    if (all.slice(at, at + name.length).toLowerCase() === name) return at;
  return undefined;
}
