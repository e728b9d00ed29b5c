/** CEL cost estimates, compared with those of kube-apiserver 1.36.4. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JSONSchemaProps } from "../../src/api/generated/types/apiextensions-v1.ts";
import { describeShared, manifestFiles, sharedLines } from "../shared-files.ts";
import { type Estimate, estimatesOf } from "./cel-costs/estimates.ts";
import { SHAPES } from "./cel-costs/shapes.ts";

type Shape = keyof typeof SHAPES;

/** Shapes, in the order of the columns after the rule. */
const COLUMNS: readonly Shape[] = ["bounded", "free", "mixed", "bytes"];
/** Two-byte values with a comma that fit into one request. */
const REQUEST_COUNT = 1_048_576n;
const COST_MAX = 2n ** 64n - 1n;

interface Row {
  readonly rule: string;
  readonly shape: Shape;
  /** Cost of one run, or the error. */
  readonly figure: string;
}

function madeRows(): readonly Row[] {
  const lines = readFileSync(new URL("cel-costs/rules.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.slice(1).flatMap((line) => {
    const [rule = "", ...figures] = line.split("\t");
    return COLUMNS.map((shape, at) => ({ rule, shape, figure: figures[at] ?? "" }));
  });
}

/** Places of the shape in the object, with the upper bound of its occurrences. */
const WRAPS: readonly {
  readonly title: string;
  readonly cardinality: bigint | undefined;
  readonly wrap: (shape: JSONSchemaProps) => JSONSchemaProps;
}[] = [
  { title: "a field", cardinality: 1n, wrap: (shape) => shape },
  {
    title: "an item of a list with a bound",
    cardinality: 12n,
    wrap: (items) => ({ type: "array", maxItems: 12, items }),
  },
  {
    title: "an item of a list without a bound",
    cardinality: undefined,
    wrap: (items) => ({ type: "array", items }),
  },
  {
    title: "an entry of a map with a bound",
    cardinality: 9n,
    wrap: (additionalProperties) => ({ type: "object", maxProperties: 9, additionalProperties }),
  },
];

describe("the cost of a rule for every function and every kind of bound", () => {
  const rows = madeRows();

  test.each(WRAPS)("equals upstream's at $title", ({ wrap, cardinality }) => {
    const ours = rows.map(({ rule, shape }) => {
      const at = { type: "object", properties: SHAPES[shape], "x-kubernetes-validations": [{ rule }] };
      return estimatesOf({ type: "object", properties: { spec: wrap(at) } })[0];
    });

    expect(rows).toHaveLength(568);
    expect(ours.map(figures)).toEqual(rows.map(({ figure }) => expected(figure, cardinality)));
  });
});

function figures(estimate: Estimate | undefined): string {
  return estimate?.error ?? `${estimate?.maxCost ?? ""}, ${estimate?.cost ?? ""} in all`;
}

function expected(figure: string, cardinality = REQUEST_COUNT): string {
  if (figure.startsWith("ERROR")) return figure;
  const total = BigInt(figure) * cardinality;
  return `${figure}, ${String(total > COST_MAX ? COST_MAX : total)} in all`;
}

interface Definition {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema?: { readonly openAPIV3Schema?: JSONSchemaProps };
    }[];
  };
}

interface UpstreamEstimate extends Estimate {
  readonly crd: string;
  readonly version: string;
}

describeShared("manifests", "the cost of each rule of other projects' definitions", () => {
  test("equals upstream's", () => {
    const manifests = manifestFiles().flatMap((file) => sharedLines<Definition>(`manifests/${file}`));
    const definitions = manifests.filter(({ kind }) => kind === "CustomResourceDefinition");

    const ours = definitions.flatMap(({ metadata: { name }, spec }) =>
      spec.versions.flatMap(({ name: version, schema }) =>
        estimatesOf(schema?.openAPIV3Schema ?? {}).map((estimate) =>
          lineOf({ crd: name, version, ...estimate }),
        ),
      ),
    );

    const upstream = sharedLines<UpstreamEstimate>("kubernetes-1.36/cel-costs.jsonl").map(lineOf);
    expect(upstream).toHaveLength(675);
    // Two projects install the same definition.
    expect([...new Set(ours)].toSorted()).toEqual([...new Set(upstream)].toSorted());
  });
});

function lineOf(estimate: UpstreamEstimate): string {
  const { crd, version, path, index, cost, maxCost, maxCardinality, cardinality, error } = estimate;
  const figure = error ?? [cost, maxCost, maxCardinality, cardinality ?? "unbounded"].join(" ");
  return `${crd} ${version} ${path} ${String(index)}: ${figure}`;
}
