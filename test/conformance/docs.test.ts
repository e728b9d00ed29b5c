/** Links in documentation resolve, and code samples compile and run. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { sourceFiles } from "../source-files.ts";
import { PackageConsumer, ROOT } from "./package-consumer.ts";
import type { Outcome } from "./package-consumer.ts";

const consumer = new PackageConsumer();
afterAll(() => consumer[Symbol.dispose]());

function pages(folder = "."): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isRead(folder, entry.name) ? pages(path) : [];
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

function isRead(folder: string, name: string): boolean {
  return folder === "." ? ["docs", "examples"].includes(name) : name !== "node_modules";
}

interface Sample {
  readonly language: string;
  /** File name that the page gives the sample; by its position otherwise. */
  readonly file: string;
  readonly text: string;
  /** Content of the `text` block that follows the sample: its standard output. */
  readonly output: string | undefined;
}

/** A code block with a language; blocks with `file=` belong to the project that the page builds. */
function samplesOf(page: string): readonly Sample[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = text.matchAll(
    /^```(?<language>ts|json)(?: file=(?<file>\S+))?\n(?<text>[^]*?)^```$(?:\n\n```text\n(?<output>[^]*?)^```$)?/gm,
  );
  return [...blocks].map(({ groups = {} }, at) => ({
    language: groups["language"] ?? "",
    file: groups["file"] ?? `src/sample-${String(at)}.ts`,
    text: groups["text"] ?? "",
    output: groups["output"],
  }));
}

const sampled = pages().filter((page) => samplesOf(page).some(({ language }) => language === "ts"));

/** Anchors of the headings of a page, by GitHub's rule. */
function anchorsOf(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[^]*?^```$/gm, "");
  return [...text.matchAll(/^#+ (?<title>.*)$/gm)].map(({ groups = {} }) =>
    (groups["title"] ?? "")
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Pages about the past, and guides whose reader creates the files. */
const NAMES_OTHER_FILES = /^(?:CHANGELOG|docs\/decisions\/|docs\/guides\/add-a-)/;

const ENTRIES = ["index", "api/index", "client/index", "runtime/index", "store/index", "testing/index"];
/** Interfaces whose members users write. */
const OPTIONS: readonly (readonly [file: string, name: string])[] = [
  ["runtime/controller/controller", "ControllerDefinition"],
  ["runtime/kinds/resource-definition", "ResourceOptions"],
  ["runtime/kinds/schema-part", "ObjectOptions"],
  ["runtime/manager/manager", "ManagerSettings"],
  ["cluster/in-program/start-cluster", "StartOptions"],
];

/** Names that an entry of the package exports, without types. */
function exportedValues(entry: string): readonly string[] {
  const text = readFileSync(join(ROOT, `src/${entry}.ts`), "utf8");
  return [...text.matchAll(/^export \{(?<names>[^}]*)\}/gm)].flatMap(
    ({ groups = {} }) => groups["names"]?.match(/\w+/g) ?? [],
  );
}

/** Names of the members of an interface. */
function membersOf([file, name]: readonly [string, string]): readonly string[] {
  const text = readFileSync(join(ROOT, `src/${file}.ts`), "utf8");
  const body = new RegExp(`^export interface ${name}\\b[^]*?^\\}`, "m").exec(text)?.[0] ?? "";
  return [...body.matchAll(/^ {2}(?:readonly )?(?<member>\w+)\??[:(<]/gm)].map(
    ({ groups = {} }) => groups["member"] ?? "",
  );
}

/** Pages without a configuration of their own share one project, because each compilation costs seconds. */
const SHARED = "shared";
const TSCONFIG = JSON.stringify({
  extends: "../tsconfig.json",
  compilerOptions: { rootDir: ".", outDir: "dist" },
  include: ["*/src"],
});

const isAlone = (page: string): boolean => samplesOf(page).some(({ file }) => file === "tsconfig.json");
const nameOf = (page: string): string => page.replaceAll(/[^a-z]+/g, "-");
const folderOf = (page: string): string => (isAlone(page) ? nameOf(page) : `${SHARED}/${nameOf(page)}`);

/** Outcomes of compilations, by project. */
const compilations = new Map<string, Outcome>();

/** Compiles the project of a page once. The output lists errors of this page only. */
function compile(page: string): Outcome {
  const project = isAlone(page) ? nameOf(page) : SHARED;
  const outcome = compilations.get(project) ?? compileProject(project);
  compilations.set(project, outcome);
  if (project !== SHARED || outcome.code === 0) return outcome;
  const errors = outcome.output.split("\n").filter((line) => line.startsWith(`${nameOf(page)}/`));
  return { code: errors.length === 0 ? 0 : outcome.code, output: errors.join("\n") };
}

function compileProject(project: string): Outcome {
  const members = sampled.filter((page) => (isAlone(page) ? nameOf(page) : SHARED) === project);
  consumer.write(`${project}/package.json`, JSON.stringify({ name: project, type: "module" }));
  if (project === SHARED) consumer.write(`${project}/tsconfig.json`, TSCONFIG);
  for (const page of members)
    for (const { file, text } of samplesOf(page)) consumer.write(`${folderOf(page)}/${file}`, text);
  return consumer.compile(project);
}

/** Folder of the project, and of the page's compiled files in it. */
function compiledAt(page: string): { readonly project: string; readonly dist: string } {
  compile(page);
  return isAlone(page)
    ? { project: nameOf(page), dist: "dist" }
    : { project: SHARED, dist: `dist/${nameOf(page)}/src` };
}

const RUNNER = join(ROOT, "test/conformance/run-samples.js");
const RUN_MS = 180_000;
const ran: { outcomes?: Promise<ReadonlyMap<string, Outcome>> } = {};

/** Outcome of a compiled sample. All samples run in one process, which ends when the last one leaves nothing behind. */
async function outcomeOf(page: string, file: string): Promise<Outcome | undefined> {
  ran.outcomes ??= runAll(
    [...printing, ...README_SAMPLES].map((sample) => programOf(sample.page, sample.file)),
  );
  return (await ran.outcomes).get(programOf(page, file));
}

async function runAll(programs: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
  const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, ...programs]);
  const lines = stdout.trimEnd().split("\n");
  const outcomes = lines.map((line) => JSON.parse(line) as { file: string; outcome: Outcome });
  return new Map(outcomes.map(({ file, outcome }) => [file, outcome]));
}

function programOf(page: string, file: string): string {
  const { project, dist } = compiledAt(page);
  return join(consumer.folder, project, file.replace(/^src\//, `${dist}/`).replace(/\.ts$/, ".js"));
}

const README_SAMPLES = samplesOf("README.md").map(({ file }) => ({ page: "README.md", file }));

/** Samples with their output beside them. */
const printing = sampled.flatMap((page) =>
  samplesOf(page)
    .filter(({ output }) => output !== undefined)
    .map(({ file, output }) => ({ page, file, output })),
);

describe("documentation", () => {
  test.each(pages())("%s links to files and headings that exist", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const links = [...text.matchAll(/\]\((?<path>[^)#:]*)(?:#(?<anchor>[^)]*))?\)/g)].map(
      ({ groups = {} }) => ({
        path: groups["path"] === "" ? page : join(dirname(page), groups["path"] ?? ""),
        anchor: groups["anchor"],
      }),
    );

    const broken = links.filter(
      ({ path, anchor }) =>
        !existsSync(join(ROOT, path)) || (anchor !== undefined && !anchorsOf(path).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });

  test.each(pages().filter((page) => !NAMES_OTHER_FILES.test(page)))(
    "%s names files of the repository that exist",
    (page) => {
      const text = readFileSync(join(ROOT, page), "utf8");
      const named = text.match(/(?<=`)(?:src|test|scripts|facts|examples)\/[\w./-]+(?=`)/g) ?? [];

      expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );

  test("metrics that are described are measured", () => {
    const described =
      readFileSync(join(ROOT, "docs/reference/metrics.md"), "utf8").match(/setpoint_\w+/g) ?? [];
    const source = sourceFiles("src")
      .map(({ text }) => text)
      .join("\n");

    expect(described.filter((name) => !source.includes(`"${name}"`))).toEqual([]);
  });

  test.each(sampled)("the samples in %s compile against the package, and their tests pass", (page) => {
    expect(compile(page)).toEqual({ code: 0, output: "" });
    const { project, dist } = compiledAt(page);
    const hasTests = samplesOf(page).some(({ file }) => file.endsWith(".test.ts"));
    if (hasTests) expect(consumer.node(["--test", `${dist}/`], project)).toMatchObject({ code: 0 });
  });

  test.each(printing)(
    "$file of $page prints the output beside it",
    { timeout: RUN_MS },
    async ({ page, file, output }) => {
      expect(await outcomeOf(page, file)).toEqual({ code: 0, output });
    },
  );

  test("every value that the package exports, and every option of the SDK, is explained", () => {
    const text = pages()
      .filter((page) => page.startsWith("docs/"))
      .map((page) => readFileSync(join(ROOT, page), "utf8"))
      .join("\n");
    const names = [...ENTRIES.flatMap(exportedValues), ...OPTIONS.flatMap(membersOf)];

    expect(names.length).toBeGreaterThan(80);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  test("the samples in the README run", { timeout: RUN_MS }, async () => {
    const outcomes = README_SAMPLES.map(({ page, file }) => outcomeOf(page, file));

    expect(await Promise.all(outcomes)).toEqual([
      { code: 0, output: "badge-jo\n" },
      { code: 0, output: "/registry/demo/a 2\n" },
    ]);
  });
});
