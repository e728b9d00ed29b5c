/** The search for devices was given up: to go on would keep everybody else waiting. In upstream's words. */
export class SearchTooLong extends Error {
  constructor() {
    super("timed out trying to allocate devices");
  }
}
