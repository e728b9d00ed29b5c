/** Thrown if a device search exceeds its budget, as it blocks other pods. The message is upstream's. */
export class AllocationTimeout extends Error {
  constructor() {
    super("timed out trying to allocate devices");
  }
}
