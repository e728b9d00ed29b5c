import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { HostChoice } from "./host-choice.ts";

const NODE = ["n1.example", "10.0.0.1"];

/** A choice whose resolver answers with `answer`, and the names that it was asked for. */
function createChoice(answer: (name: string) => Promise<readonly string[]>): {
  readonly loop: VirtualLoop;
  readonly asked: string[];
  readonly first: (hosts: readonly string[]) => Promise<string | undefined>;
} {
  const loop = new VirtualLoop({ seed: 1 });
  const asked: string[] = [];
  const choice = new HostChoice(loop, (name) => {
    asked.push(name);
    return answer(name);
  });
  return { loop, asked, first: (hosts) => choice.first(hosts, "reported") };
}

const missing = (): Promise<never> => Promise.reject(new Error("ENOTFOUND"));
const silent = (): Promise<never> => new Promise(() => undefined);

describe("the host of a node", () => {
  test("is its first name that resolves", async () => {
    const { first, asked } = createChoice((name) =>
      name === "n2" ? Promise.resolve(["10.0.0.2"]) : missing(),
    );

    expect(await first(["n1", "n2", "10.0.0.3"])).toBe("n2");
    expect(await first(["10.0.0.3", "n2"])).toBe("10.0.0.3");
    expect(await first(["n1", "n3"])).toBe("n1");
    expect(asked).toEqual(["n1", "n2", "n3"]);
  });

  test("is not a name of addresses that the server does not dial", async () => {
    const { first } = createChoice(() => Promise.resolve(["127.0.0.1"]));

    expect(await first(NODE)).toBe("10.0.0.1");
  });

  test("is looked up again for each request while its name resolves", async () => {
    const answers = [["10.0.0.2"], ["127.0.0.1"]];
    const { first } = createChoice(() => Promise.resolve(answers.shift() ?? []));

    expect(await first(NODE)).toBe("n1.example");
    expect(await first(NODE)).toBe("10.0.0.1");
  });

  test("is its address for a minute after its name did not resolve", async () => {
    const { first, asked, loop } = createChoice(missing);
    for (let request = 0; request < 3; request++) expect(await first(NODE)).toBe("10.0.0.1");
    expect(asked).toEqual(["n1.example"]);

    await loop.advance(60_000);
    await first(NODE);

    expect(asked).toEqual(["n1.example", "n1.example"]);
  });

  test("is its address after one second of a silent resolver, which is asked once", async () => {
    const { first, asked, loop } = createChoice(silent);
    const requests = [first(NODE), first(NODE)];
    await loop.advance(1000);

    expect(await Promise.all(requests)).toEqual(["10.0.0.1", "10.0.0.1"]);
    expect(await first(["n2.example", "10.0.0.2"])).toBe("10.0.0.2");
    expect(asked).toEqual(["n1.example"]);
  });

  test("is its name again once a late resolver has answered", async () => {
    const ready: (() => void)[] = [];
    const { first, loop } = createChoice(
      () => new Promise((resolve) => ready.push(() => resolve(["10.0.0.2"]))),
    );
    const late = first(NODE);
    await loop.advance(1000);
    expect(await late).toBe("10.0.0.1");
    ready[0]?.();
    await loop.advance(60_000);

    const next = first(NODE);
    ready[1]?.();

    expect(await next).toBe("n1.example");
  });
});
