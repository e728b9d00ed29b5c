import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STRUCTURES_TEXT } from "../../../api/generated/structures.ts";
import { builtInStruct } from "../../../api/schema/built-in-schema.ts";
import { Descriptions } from "./descriptions.ts";
import { SPECIAL } from "./special-definition.ts";

const LENGTH_MAX = 160;
/** The only file with types that are not structs of the API. */
const COMMON = "common.txt";

const folder = new URL("descriptions/", import.meta.url);
const descriptions = new Descriptions();
const definitions = STRUCTURES_TEXT.split("\n").map((line) => line.slice(0, line.indexOf(" ")));
const entries = readdirSync(folder).flatMap(entriesOf);
const structEntries = entries.filter(({ file }) => file !== COMMON);

interface Entry {
  readonly file: string;
  readonly line: number;
  /** The first word, which is the name of a type or field. */
  readonly name: string;
  readonly text: string;
  /** Each definition that the entry could belong to, whether or not it exists. */
  readonly owners: readonly string[];
  readonly isField: boolean;
}

function entriesOf(file: string): readonly Entry[] {
  let packages: readonly string[] = [];
  let owners: readonly string[] = [];
  const lines = readFileSync(new URL(file, folder), "utf8").split("\n");
  return lines.flatMap((line, at) => {
    if (line.startsWith("# ")) packages = line.slice(2).split(" ");
    if (line === "" || /^(?:# | {2}= )/.test(line)) return [];
    const isField = line.startsWith("  ");
    const text = isField ? line.slice(2) : line;
    const name = text.split(" ", 1)[0] ?? "";
    if (!isField) owners = packages.map((owner) => `${owner}.${name}`);
    return [{ file, line: at + 1, name, text, owners, isField }];
  });
}

/** JSON names of the field in all versions of the entry. */
function fieldsOf({ owners }: Entry): readonly string[] {
  return owners
    .filter((owner) => definitions.includes(owner))
    .flatMap((owner) => builtInStruct(owner).fields.map(({ name }) => name));
}

function places(found: readonly Entry[]): readonly string[] {
  return found.map(({ file, line, name }) => `${file}:${String(line)} ${name}`);
}

describe("descriptions", () => {
  test("every type of the API has a description", () => {
    const missing = definitions.filter(
      (definition) => descriptions.ofType(builtInStruct(definition)) === undefined,
    );
    const special = Object.values(SPECIAL).map((name) => name.slice(name.lastIndexOf(".") + 1));

    expect(missing).toEqual([]);
    expect(special.filter((name) => descriptions.ofSpecial(name) === undefined)).toEqual([]);
  });

  test("every field of the API has a description", () => {
    const missing = definitions.flatMap((definition) => {
      const struct = builtInStruct(definition);
      return struct.fields
        .filter(({ name }) => descriptions.ofField(struct, name) === undefined)
        .map(({ name }) => `${definition} ${name}`);
    });

    expect(missing).toEqual([]);
  });

  test("no description names a type or field that does not exist", () => {
    const strange = structEntries.filter((entry) =>
      entry.isField
        ? !fieldsOf(entry).some((name) => name.toLowerCase() === entry.name.toLowerCase())
        : !entry.owners.some((owner) => definitions.includes(owner)),
    );

    expect(places(strange)).toEqual([]);
  });

  test("each description occurs once", () => {
    const seen = new Set<string>();
    const twice = entries.filter(({ file, owners, name, isField }) => {
      const key = `${file} ${owners.join(" ")} ${isField ? name.toLowerCase() : ""}`;
      const isTwice = seen.has(key);
      seen.add(key);
      return isTwice;
    });

    expect(places(twice)).toEqual([]);
  });

  test("each description begins with the name, consists of sentences and is short", () => {
    const wrong = entries.filter(
      ({ text }) => !/^[$\w-]+ [^\s.].*\.$/.test(text) || / {2}|\t/.test(text) || text.length > LENGTH_MAX,
    );

    expect(places(wrong)).toEqual([]);
  });

  test.each([
    ["core.v1.EphemeralContainer", "image", /^image is the container image /],
    ["core.v1.EphemeralContainer", "ports", /^ports is not allowed /],
    ["batch.v1.JobCondition", "reason", /^reason is a CamelCase word /],
    ["apps.v1.Deployment", "kind", /^kind is /],
    ["apps.v1.DeploymentList", "items", /^List of deployments\.$/],
  ])("%s has its own, its base's or the common description of %s", (definition, field, text) => {
    expect(descriptions.ofField(builtInStruct(definition), field)).toMatch(text);
  });

  test("a list is described by its items", () => {
    expect(descriptions.ofType(builtInStruct("apps.v1.DeploymentList"))).toBe(
      "DeploymentList is a list of Deployment objects.",
    );
  });

  test("without the files there are no descriptions", () => {
    const lost = new Descriptions(new URL("none/", folder));
    const pod = builtInStruct("core.v1.Pod");

    expect([lost.ofType(pod), lost.ofField(pod, "spec"), lost.ofSpecial("Quantity")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("field names are distinct without regard to case", () => {
    const clashes = definitions.filter((definition) => {
      const names = builtInStruct(definition).fields.map(({ name }) => name.toLowerCase());
      return new Set(names).size < names.length;
    });

    expect(clashes).toEqual([]);
  });
});
