/** Declared answers of a simulated container: to commands (annotation `exec`) and on ports (annotation `ports`). */
import { isJsonObject } from "../../api/json/json-object.ts";
import { parseYaml } from "../../api/yaml/yaml.ts";

/** Result of a declared command. */
export interface ScriptedCommand {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Key for every other command. */
const ANY = "*";

/** Answers by command line, words joined by a space. */
export type ExecScript = ReadonlyMap<string, ScriptedCommand>;

/** Throws a SyntaxError for a text that is not a map of answers. */
export function parseExecScript(text: string): ExecScript {
  return new Map(
    Object.entries(mapIn(text)).map(([command, answer]) => [command, commandIn(command, answer)]),
  );
}

/** `sh -c SCRIPT` is found by its script too. */
export function findScripted(script: ExecScript, words: readonly string[]): ScriptedCommand | undefined {
  const [, flag, line] = words;
  const known = script.get(words.join(" "));
  const inShell = words.length === 3 && flag === "-c" && line !== undefined ? script.get(line) : undefined;
  return known ?? inShell ?? script.get(ANY);
}

/** Bodies of HTTP responses by port. Throws a SyntaxError for another text. */
export function parsePorts(text: string): ReadonlyMap<number, string> {
  return new Map(
    Object.entries(mapIn(text)).map(([port, body]) => {
      if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
        throw new SyntaxError(`expected port numbers, found ${JSON.stringify(port)}`);
      return [Number(port), textIn(port, body)];
    }),
  );
}

function mapIn(text: string): Readonly<Record<string, unknown>> {
  const { value } = parseYaml(Buffer.from(text));
  if (!isJsonObject(value)) throw new SyntaxError("expected a map in YAML or JSON");
  return value;
}

function commandIn(command: string, answer: unknown): ScriptedCommand {
  if (!isJsonObject(answer)) return { stdout: withNewline(textIn(command, answer)), stderr: "", exitCode: 0 };
  const { stdout = "", stderr = "", exitCode = 0, ...others } = answer;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new SyntaxError(`expected stdout, stderr or exitCode of ${command}, found ${unknown}`);
  if (typeof exitCode !== "number" || !Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255)
    throw new SyntaxError(`expected an exitCode from 0 to 255 of ${command}`);
  return {
    stdout: withNewline(textIn(command, stdout)),
    stderr: withNewline(textIn(command, stderr)),
    exitCode,
  };
}

function textIn(key: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new SyntaxError(`expected a text for ${key}`);
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
