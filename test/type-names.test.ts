/** One word for one thing: an exported type name means one type within a layer, a folder directly below src. */
import { describe, expect, test } from "vitest";
import { sourceFiles, type SourceFile } from "./source-files.ts";

/** Names that still have two meanings. The list may only become shorter. */
const ALLOWED = ["KeyPlace", "Operation", "PodAddresses", "StopOrder"];

const EXPORTED = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (?<name>\w+)/gm;

describe("names of types", () => {
  test("have one meaning within a layer", () => {
    const sources = sourceFiles("src").filter(({ path }) => !/\/generated\/|\.test\.ts$/.test(path));

    const isKnown = (place: string): boolean => ALLOWED.includes(place.split(":")[0] ?? "");
    expect(repeatedNames(sources).filter((place) => !isKnown(place))).toEqual([]);
  });

  test("are found when they repeat, unless in another layer", () => {
    const text = "export interface Place {}";
    const paths = ["src/a/x.ts", "src/a/b/y.ts", "src/c/z.ts"];

    expect(repeatedNames(paths.map((path) => ({ path, text })))).toEqual(["Place: src/a/x.ts, src/a/b/y.ts"]);
  });
});

function repeatedNames(sources: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of sources)
    for (const { groups } of text.matchAll(EXPORTED)) {
      const name = `${path.split("/")[1] ?? ""} ${groups?.["name"] ?? ""}`;
      places.set(name, [...(places.get(name) ?? []), path]);
    }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name.split(" ")[1] ?? ""}: ${paths.join(", ")}`);
}
