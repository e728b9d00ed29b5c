/** The store watch behind a client's watch. It ends when the client leaves, or after the last event of a kind that is no longer served. */
import type { Store, Watch } from "../../../store/store.ts";
import type { Call } from "../../request/call.ts";
import type { OpenRequest } from "../../request/request-counts.ts";
import type { InitialPiece } from "./initial-pieces.ts";

export interface OpenWatchOptions {
  readonly store: Store;
  /** Existing objects, sent first. */
  readonly initial: Iterator<InitialPiece, undefined>;
  readonly tallied: OpenRequest;
}

export class OpenWatch {
  readonly watching: Watch;
  /** Undefined once all existing objects are sent. */
  initial: Iterator<InitialPiece, undefined> | undefined;
  readonly tallied: OpenRequest;
  readonly #call: Call;
  readonly #store: Store;
  /** Revision at which the server stopped serving the kind. */
  #last = Infinity;
  readonly #onLeft = (): void => this.watching.close();
  readonly #onEnded = (): void => {
    this.#last = this.#store.view.revision;
    // A slow client still gets the events of the last objects.
    if (this.isOver) this.watching.close();
  };

  constructor(watching: Watch, call: Call, { store, initial, tallied }: OpenWatchOptions) {
    this.watching = watching;
    this.initial = initial;
    this.tallied = tallied;
    this.#call = call;
    this.#store = store;
    const { request, resource } = call;
    request.signal.addEventListener("abort", this.#onLeft, { once: true });
    resource.ended?.addEventListener("abort", this.#onEnded, { once: true });
    if (resource.ended?.aborted === true) this.#onEnded();
  }

  get isOver(): boolean {
    return this.#call.request.signal.aborted || this.watching.revision >= this.#last;
  }

  close(): void {
    const { request, resource } = this.#call;
    request.signal.removeEventListener("abort", this.#onLeft);
    resource.ended?.removeEventListener("abort", this.#onEnded);
    this.watching.close();
    this.tallied.ended();
  }
}
