// @ts-check
/**
 * What lies between the main thread and the thread of a store: a message port, and beside it a count of the messages that each end
 * has posted. Who waits for the next one without sleeping looks at the count. To look at the port itself would lock it each time, and keep
 * the other end from posting.
 */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

/** @typedef {import("node:worker_threads").MessagePort} MessagePort */
/** @typedef {import("node:worker_threads").TransferListItem} Transferable */

/**
 * What one end is made of; goes to its thread.
 * @typedef {object} EndParts
 * @property {MessagePort} port
 * @property {Int32Array} sent messages of this end, in shared memory
 * @property {Int32Array} received messages of the other end, in shared memory
 */

/** @returns {[EndParts, EndParts]} */
export function createChannel() {
  const { port1, port2 } = new MessageChannel();
  const [one, two] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
  return [
    { port: port1, sent: one, received: two },
    { port: port2, sent: two, received: one },
  ];
}

/**
 * @template Sent, Received
 */
export class ChannelEnd {
  #port;
  #sent;
  #received;
  #taken = 0;

  /** @param {EndParts} parts */
  constructor({ port, sent, received }) {
    this.#port = port;
    this.#sent = sent;
    this.#received = received;
  }

  /**
   * @param {Sent} message
   * @param {readonly Transferable[]} transfer
   */
  post(message, transfer = []) {
    this.#port.postMessage(message, transfer);
    Atomics.add(this.#sent, 0, 1);
  }

  /**
   * Calls `take` with each message, in order, unless `next` was first.
   * @param {(message: Received) => void} take
   */
  onMessage(take) {
    this.#port.on("message", (/** @type {Received} */ message) => {
      this.#count();
      take(message);
    });
  }

  /**
   * The next message, when there is one already.
   * @returns {Received | undefined}
   */
  next() {
    if (Atomics.load(this.#received, 0) === this.#taken) return undefined;
    const found = /** @type {{ message: Received } | undefined} */ (receiveMessageOnPort(this.#port));
    if (found === undefined) return undefined;
    this.#count();
    return found.message;
  }

  /** As the other end counts: in 32 bits. */
  #count() {
    this.#taken = (this.#taken + 1) | 0;
  }
}
