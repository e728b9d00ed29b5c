/** Capacity and labels of a simulated node. */
export interface NodeShape {
  /** Amounts by resource, for example `{ cpu: "4", "example.com/gpu": "2" }`. Omitted resources get the default. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Additional labels. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
}

const CAPACITY = { cpu: "8", memory: "32Gi", "ephemeral-storage": "100Gi", pods: "110" };

/** Shape of the node at this index, with defaults: nodes get the shapes in turn. */
export function shapeAt(shapes: readonly NodeShape[], index: number): Required<NodeShape> {
  const { capacity = {}, labels = {} } = shapes[index % Math.max(1, shapes.length)] ?? {};
  return { capacity: { ...CAPACITY, ...capacity }, labels };
}
