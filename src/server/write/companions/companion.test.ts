import { expect, it } from "vitest";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { planBeside } from "./companion.ts";
import type { Companion, PlannedWrite } from "./companion.ts";

const object = { apiVersion: "v1", kind: "Service", metadata: { name: "web" } } as ApiObject;
const resource = { storage: { prefix: "services/specs" } } as StoredResource;

/** Plans a put of its own key, and notes the writes that it is asked about. */
class Recorder implements Companion {
  readonly asked: PlannedWrite[] = [];
  readonly kinds: Companion["kinds"];
  readonly #name: string;

  constructor(name: string, prefix = "services/specs") {
    this.#name = name;
    this.kinds = { prefix };
  }

  plan(write: PlannedWrite): ReturnType<Companion["plan"]> {
    this.asked.push(write);
    const key = `/${this.#name}`;
    return {
      object: { ...object, metadata: { name: this.#name } },
      compare: [{ key, modRevision: 1 }],
      changes: [{ type: "delete", key }],
    };
  }
}

it("each companion sees the object and the number of changes that those before it planned", () => {
  const [first, second] = [new Recorder("first"), new Recorder("second")];

  const plan = planBeside([first, second], { previous: undefined, next: object }, resource);

  expect([first, second].map(({ asked }) => asked.map(({ planned }) => planned))).toEqual([[0], [1]]);
  expect(second.asked[0]?.change.next?.metadata.name).toBe("first");
  expect(plan.object?.metadata.name).toBe("second");
  expect(plan.compare.map(({ key }) => key)).toEqual(["/first", "/second"]);
  expect(plan.changes).toHaveLength(2);
});

it("a companion is asked only about the kinds that concern it", () => {
  const other = new Recorder("other", "pods");

  const plan = planBeside([other], { previous: undefined, next: object }, resource);

  expect(other.asked).toEqual([]);
  expect(plan).toEqual({ object: undefined, compare: [], changes: [] });
});
