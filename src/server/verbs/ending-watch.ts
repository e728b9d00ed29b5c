/** A watch of the store for a client: it ends with the client, or once all is told of a kind that is served no longer. */
import type { Store, Watch } from "../../store/store.ts";
import type { Call } from "../call.ts";

export class EndingWatch {
  readonly #watch: Watch;
  readonly #store: Store;
  readonly #call: Call;
  /** The revision at which the kind ended. */
  #last = Infinity;
  readonly #onLeft = (): void => this.#watch.close();
  readonly #onEnded = (): void => {
    this.#last = this.#store.view.revision;
    // What happened to the last objects is still told, if anybody was slow to hear it.
    if (this.isOver) this.#watch.close();
  };

  constructor(watch: Watch, call: Call, store: Store) {
    this.#watch = watch;
    this.#call = call;
    this.#store = store;
    const { request, resource } = call;
    request.signal.addEventListener("abort", this.#onLeft, { once: true });
    resource.ended?.addEventListener("abort", this.#onEnded, { once: true });
    if (resource.ended?.aborted === true) this.#onEnded();
  }

  get isOver(): boolean {
    return this.#call.request.signal.aborted || this.#watch.revision >= this.#last;
  }

  close(): void {
    const { request, resource } = this.#call;
    request.signal.removeEventListener("abort", this.#onLeft);
    resource.ended?.removeEventListener("abort", this.#onEnded);
    this.#watch.close();
  }
}
