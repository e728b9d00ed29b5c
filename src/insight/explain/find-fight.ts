/** Finds two writers that set a field of an object back and forth. Pure. */
import type { Change, ShownFieldChange } from "../../api/causes/change.ts";
import { authorText } from "../text/change-text.ts";
import type { Obstacle } from "./explanation.ts";

/** Times that a value came back before it counts as a fight. */
const RETURNS_MIN = 3;
/** Latest changes that are looked at. */
const LOOKED_AT = 40;

interface Write {
  readonly before: string;
  readonly after: string;
  readonly author: string;
}

/** One finding at most: the field that changed hands most often. `name` is the object as `setpoint timeline` takes it. */
export function findFight(changes: readonly Change[], name: string): readonly Obstacle[] {
  const writes = new Map<string, Write[]>();
  for (const change of changes.slice(-LOOKED_AT))
    for (const field of desiredFields(change)) {
      const { path, before, after } = field;
      const known = writes.get(path) ?? [];
      const author = authorText(change.author);
      known.push({ before: JSON.stringify(before) ?? "", after: JSON.stringify(after) ?? "", author });
      writes.set(path, known);
    }
  const fights = [...writes].map(([path, of]) => ({ path, returns: returnsIn(of), of }));
  const [worst] = fights.toSorted((a, b) => b.returns - a.returns);
  if (worst === undefined || worst.returns < RETURNS_MIN) return [];
  const authors = [...new Set(worst.of.slice(-4).map(({ author }) => author))].join(" and ");
  return [
    {
      of: undefined,
      blockedBy: `${authors} set ${worst.path} back and forth, ${String(worst.returns)} times`,
      unblock: [{ command: `setpoint timeline ${name}`, effect: "see each write; then stop one of the two" }],
    },
  ];
}

function desiredFields({ operation, fields = [] }: Change): readonly ShownFieldChange[] {
  if (operation !== "Updated") return [];
  return fields.filter(
    ({ path, withheld }) => withheld === undefined && /^(spec|data|metadata\.labels)/.test(path),
  );
}

/** Writes by another author than the last one that brought the value before the last one back. */
function returnsIn(writes: readonly Write[]): number {
  return writes.filter((write, at) => {
    const last = writes[at - 1];
    return last !== undefined && last.author !== write.author && last.before === write.after;
  }).length;
}
