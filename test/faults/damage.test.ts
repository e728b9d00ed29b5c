/**
 * Every kind of file of a file store gets a flipped bit, is cut, removed or replaced. At the next start and the one after it, the store is
 * refused or has everything that was acknowledged.
 */
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../src/base/loop/random.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { makeStores, openAndCheck, openAndWrite, type Acknowledged } from "./damaged-store.ts";

const SEED = Number(process.env["SETPOINT_SEED"] ?? 3);
/** Flipped bits per kind of file, besides those at its edges; `npm run test:long` sets more. */
const FLIPS = Number(process.env["SETPOINT_DAMAGE_FLIPS"] ?? 4);
/** Number of stores that are opened at a time. */
const PARALLEL = 4;
const LIMIT_MS = 60_000 + FLIPS * 2_000;

const loop = createRealLoop({ name: "damage" });
let folder = "";
let copies = 0;
let acknowledged: Acknowledged = { revision: 0, compacted: 0, entries: [], history: [] };

interface Damage {
  readonly name: string;
  apply(file: string, content: Buffer): Promise<void>;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-damage-"));
  acknowledged = await makeStores(loop, { dir: join(folder, "closed"), copy: join(folder, "crashed") });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.each(["closed", "crashed"])("a %s file store", (template) => {
  test("opens whole when nothing was done to it", async () => {
    await damagedCopy(template, "untouched", async (dir) => {
      expect(await openAndCheck(loop, dir, acknowledged)).toBe("whole");
    });
  });

  test("with one flipped bit in any of its files is refused or whole", { timeout: LIMIT_MS }, async () => {
    const outcomes = await damageEach(template, (size, random) => flips(size, random));

    expect(outcomes.length).toBeGreaterThan(FLIPS);
    expect(outcomes).toContain("refused");
  });

  test("with any of its files cut is refused or whole", { timeout: LIMIT_MS }, async () => {
    expect(await damageEach(template, (size, random) => cuts(size, random))).toContain("refused");
  });

  test(
    "with any of its files removed, emptied, foreign or zeroed is refused or whole",
    { timeout: LIMIT_MS },
    async () => {
      expect(await damageEach(template, (size) => replacements(size))).toContain("refused");
    },
  );

  test("without its database, or with the marker of another store, is refused", async () => {
    await damagedCopy(template, "no-database", async (dir) => {
      await rm(join(dir, "store.db"));
      expect(await openAndCheck(loop, dir, acknowledged)).toBe("refused");
      expect(await openAndCheck(loop, dir, acknowledged)).toBe("refused");
    });
    await damagedCopy(template, "foreign-marker", async (dir) => {
      await makeStores(loop, {
        dir: join(folder, `other-${template}`),
        copy: join(folder, `unused-${template}`),
      });
      await cp(join(folder, `other-${template}`, "marker"), join(dir, "marker"));
      expect(await openAndCheck(loop, dir, acknowledged)).toBe("refused");
    });
  });
});

/** Applies every damage to every file, each to its own copy; opens the store twice. */
async function damageEach(
  template: string,
  damages: (size: number, random: Random) => Damage[],
): Promise<string[]> {
  const cases: { file: string; damage: Damage }[] = [];
  for (const file of await readdir(join(folder, template))) {
    const { size } = await stat(join(folder, template, file));
    for (const damage of damages(size, seededRandom("damage", SEED, template, file)))
      cases.push({ file, damage });
  }
  const outcomes: string[] = [];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = cases.pop(); next !== undefined; next = cases.pop()) {
      const { file, damage } = next;
      try {
        outcomes.push(await damageOnce(template, file, damage));
      } catch (error) {
        failures.push(`${file}, ${damage.name}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  expect(failures).toEqual([]);
  return outcomes;
}

type Random = ReturnType<typeof seededRandom>;

async function damageOnce(template: string, file: string, damage: Damage): Promise<string> {
  return await damagedCopy(template, file, async (dir) => {
    const path = join(dir, file);
    await damage.apply(path, await readFile(path));
    const first = await openAndWrite(loop, dir, acknowledged);
    const second = await openAndCheck(loop, dir, first.acknowledged);
    if (first.outcome === "refused" && second === "whole") throw new Error("refused once, then opened");
    return first.outcome;
  });
}

async function damagedCopy<T>(template: string, name: string, body: (dir: string) => Promise<T>): Promise<T> {
  copies += 1;
  const dir = join(folder, `${template}-${copies}-${name}`);
  await cp(join(folder, template), dir, { recursive: true });
  try {
    return await body(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Positions all over the file, and in the first and last bytes, where headers are. */
function flips(size: number, random: Random): Damage[] {
  if (size === 0) return [];
  const anywhere = Array.from({ length: Math.min(FLIPS, size) }, () => random.below(size));
  const edges = [random.below(Math.min(size, 100)), random.below(Math.min(size, 100)), size - 1];
  return [...anywhere, ...edges].map((at) => {
    const bit = random.below(8);
    return {
      name: `bit ${bit} of byte ${at} of ${size}`,
      apply: async (file, content) => {
        content[at] = (content[at] ?? 0) ^ (1 << bit);
        await writeFile(file, content);
      },
    };
  });
}

function cuts(size: number, random: Random): Damage[] {
  const lengths = [
    size - 1,
    size - 4096,
    Math.floor(size / 2),
    random.below(size + 1),
    random.below(size + 1),
    1,
  ];
  return [...new Set(lengths.filter((length) => length > 0 && length < size))].map((length) => ({
    name: `cut to ${length} of ${size}`,
    apply: async (file, content) => await writeFile(file, content.subarray(0, length)),
  }));
}

function replacements(size: number): Damage[] {
  return [
    { name: "removed", apply: async (file) => await rm(file) },
    { name: "emptied", apply: async (file) => await writeFile(file, "") },
    { name: "foreign", apply: async (file) => await writeFile(file, "something else entirely\n") },
    { name: "zeroed", apply: async (file) => await writeFile(file, Buffer.alloc(size)) },
    {
      name: "with more behind",
      apply: async (file, content) => await writeFile(file, Buffer.concat([content, Buffer.alloc(5000, 7)])),
    },
  ];
}
