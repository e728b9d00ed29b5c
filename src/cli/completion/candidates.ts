/** Words that may stand at the end of a command line. Pure but for `Lookup`, which asks the cluster. */
import type { Command, OptionSpec } from "../command.ts";

export interface Candidate {
  /** Replaces the whole last word. A slash at its end says that more of the word follows. */
  readonly text: string;
  readonly help?: string;
}

/** "files": the shell completes paths. */
export type Candidates = readonly Candidate[] | "files";

/** Options that the line has before its last word, by name without dashes: `namespace`, `data-dir`. */
export type GivenOptions = Readonly<Record<string, string>>;

/** Facts of the machine and of the cluster. A list is empty when it cannot be read. */
export interface Lookup {
  types(given: GivenOptions): Promise<readonly string[]>;
  names(type: string, given: GivenOptions): Promise<readonly string[]>;
  clusters(): Promise<readonly string[]>;
  contexts(given: GivenOptions): Promise<readonly string[]>;
}

/** Candidates for the last of the words, which may be empty. The program's own name is not among the words. */
export async function candidatesFor(
  words: readonly string[],
  commands: readonly Command[],
  lookup: Lookup,
): Promise<Candidates> {
  const found = await allCandidates(words, commands, lookup);
  const last = words.at(-1) ?? "";
  return found === "files" ? found : found.filter(({ text }) => text.startsWith(last));
}

async function allCandidates(
  words: readonly string[],
  commands: readonly Command[],
  lookup: Lookup,
): Promise<Candidates> {
  const [name = "", ...rest] = words;
  if (rest.length === 0) return name.startsWith("-") ? HELP : [...commandsOf(commands), HELP_COMMAND];
  if (name === HELP_COMMAND.text) return rest.length === 1 ? commandsOf(commands) : [];
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return [];
  const { given, operands, open } = read(rest.slice(0, -1), command);
  const last = rest.at(-1) ?? "";
  if (operands.includes("--")) return "files";
  if (open !== undefined) return valuesOf(open, given, lookup);
  const [flag, value] = split(last);
  if (value !== undefined) return prefixed(`${flag}=`, await optionValues(flag, command, { given, lookup }));
  if (last.startsWith("-")) return [...command.options.flatMap(flagsOf), ...HELP];
  return operandValues({ command, operands, last, given }, lookup);
}

const HELP_COMMAND: Candidate = { text: "help", help: "show help for a command" };
const HELP: readonly Candidate[] = [{ text: "--help", help: "show help" }];

function commandsOf(commands: readonly Command[]): readonly Candidate[] {
  return commands.map(({ name, help }) => ({ text: name, help }));
}

interface Line {
  readonly given: GivenOptions;
  readonly operands: readonly string[];
  /** The last word is the value of this option. */
  readonly open: OptionSpec | undefined;
}

function read(words: readonly string[], { options }: Command): Line {
  const given: Record<string, string> = {};
  const operands: string[] = [];
  let open: OptionSpec | undefined;
  for (const word of words) {
    if (open !== undefined) {
      given[longName(open)] = word;
      open = undefined;
    } else if (word.startsWith("-") && word !== "-" && word !== "--") {
      const [flag, value] = split(word);
      const option = options.find((each) => hasFlag(each, flag));
      if (option === undefined) continue;
      if (value === undefined && takesValue(option)) open = option;
      else given[longName(option)] = value ?? "true";
    } else operands.push(word);
  }
  return { given, operands, open };
}

function split(word: string): readonly [flag: string, value: string | undefined] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function hasFlag({ flags }: OptionSpec, flag: string): boolean {
  return flags.split(/[ ,]+/).includes(flag);
}

/** A value in brackets may be missing, so the next word is not one. */
function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes("<");
}

function longName({ flags }: OptionSpec): string {
  return /--([\w-]+)/.exec(flags)?.[1] ?? "";
}

function flagsOf({ flags, help }: OptionSpec): readonly Candidate[] {
  return [...flags.matchAll(/(?<=^|\s)--?[\w-]+/g)].map(([text]) => ({ text, help }));
}

async function optionValues(
  flag: string,
  { options }: Command,
  { given, lookup }: { readonly given: GivenOptions; readonly lookup: Lookup },
): Promise<Candidates> {
  const option = options.find((each) => hasFlag(each, flag));
  return option === undefined ? [] : valuesOf(option, given, lookup);
}

async function valuesOf(option: OptionSpec, given: GivenOptions, lookup: Lookup): Promise<Candidates> {
  if (option.choices !== undefined) return texts(option.choices);
  if (/<(?:file|dir|path)>/.test(option.flags)) return "files";
  switch (longName(option)) {
    case "namespace":
      return texts(await lookup.names("namespaces", given));
    case "name":
      return texts(await lookup.clusters());
    case "context":
      return texts(await lookup.contexts(given));
    default:
      return [];
  }
}

function prefixed(prefix: string, values: Candidates): Candidates {
  return values === "files" ? values : values.map((each) => ({ ...each, text: prefix + each.text }));
}

interface Operand {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly last: string;
  readonly given: GivenOptions;
}

/** The command's `usage` says what stands where. */
async function operandValues(
  { command, operands, last, given }: Operand,
  lookup: Lookup,
): Promise<Candidates> {
  const usage = command.usage.at(operands.length) ?? command.usage.findLast((each) => each.endsWith("...]"));
  if (usage === undefined) return [];
  const name = usage.replaceAll(/[[\].]/g, "");
  const choices = command.choices?.[name];
  if (choices !== undefined) return texts(choices);
  switch (name) {
    case "objects":
      return objectWords({ operands, last, given }, lookup);
    case "pod":
    case "object":
      return last.includes("/")
        ? namesAfterType(last, given, lookup)
        : texts(await lookup.names("pods", given));
    case "kind/name":
      if (last.includes("/")) return namesAfterType(last, given, lookup);
      return texts((await lookup.types(given)).map((type) => `${type}/`));
    default:
      return PATHS.has(name) ? "files" : [];
  }
}

/** Operands that are paths. */
const PATHS: ReadonlySet<string> = new Set(["file", "folder", "module"]);

/** `TYPE`, `TYPE,TYPE`, `TYPE NAME…` or `TYPE/NAME…`. */
async function objectWords(
  { operands, last, given }: Omit<Operand, "command">,
  lookup: Lookup,
): Promise<Candidates> {
  if (last.includes("/")) return namesAfterType(last, given, lookup);
  const [type] = operands;
  if (type !== undefined && !type.includes("/"))
    return texts((await lookup.names(type, given)).filter((name) => !operands.includes(name)));
  const types = await lookup.types(given);
  if (type !== undefined) return texts(types.map((each) => `${each}/`));
  const before = last.slice(0, last.lastIndexOf(",") + 1);
  return texts(types.map((each) => before + each));
}

async function namesAfterType(word: string, given: GivenOptions, lookup: Lookup): Promise<Candidates> {
  const type = word.slice(0, word.indexOf("/"));
  return texts((await lookup.names(type, given)).map((name) => `${type}/${name}`));
}

function texts(values: readonly string[]): readonly Candidate[] {
  return values.map((text) => ({ text }));
}
